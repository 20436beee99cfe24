#pragma once

#include <string>

#include "features/channels/messenger.hpp"
#include "io/mail/mail_connection.hpp"

namespace agw {

/// Sends a mail by SMTP (RFC 5321) on a new connection. Failures of the server or the network are returned, not thrown.
Task<SendResult> send_mail(HttpClient& http, MailServer server, std::string from, std::string to, std::string mail,
                           StopSource& stop);

}  // namespace agw
