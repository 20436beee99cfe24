#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/channels/email/mail_head.hpp"

namespace agw {

/// The verified sender of a mail: it has exactly one From with one address, and the topmost Authentication-Results
/// (RFC 8601) of the server `authserv_id` states that SPF, DKIM or DMARC passed for the domain of that address or a
/// parent domain. No value otherwise.
/// Example: src/features/channels/email/mail_sender_test.cpp: Sender.IsAuthenticIfTheTrustedServerSaysSo
std::optional<MailAddress> authentic_sender(const MailHead& head, std::string_view authserv_id);

/// Whether a program wrote the mail, or it was sent to a mailing list. Such mails are not answered: two programs could
/// answer each other endlessly.
bool is_automatic(const MailHead& head);

}  // namespace agw
