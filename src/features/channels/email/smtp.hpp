#pragma once

#include <string>

#include "features/channels/messenger.hpp"
#include "io/mail/mail_connection.hpp"

namespace agw {

/// Sends a mail by SMTP (RFC 5321) on a separate connection. Never throws for failures of the server or the network.
Task<SendResult> send_mail(HttpClient& http, MailServer server, std::string from, std::string to, std::string mail,
                           StopSource& stop);

}  // namespace agw
