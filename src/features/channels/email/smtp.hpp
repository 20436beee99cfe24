#pragma once

#include <string>

#include "features/channels/messenger.hpp"
#include "io/mail/mail_connection.hpp"

namespace agw {

/// Sends a mail by SMTP (RFC 5321) on a connection of its own. Never throws for what the server or the network does.
Task<SendResult> send_mail(HttpClient& http, MailServer server, std::string from, std::string to, std::string mail,
                           StopSource& stop);

}  // namespace agw
