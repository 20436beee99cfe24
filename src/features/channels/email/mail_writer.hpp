#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time/time.hpp"
#include "features/channels/email/mail_reader.hpp"

namespace agw {

/// A mail to send. Addresses and message ids are ASCII without blanks.
struct MailDraft {
  std::string from_name{};
  std::string from;
  std::string to;
  std::string subject;
  std::string message_id;                 ///< `<id@host>`
  std::vector<std::string> references{};  ///< ids of earlier mails of the thread, the answered one last
  std::string text;
  bool is_markdown = false;  ///< also sent as HTML
  bool is_reply = false;     ///< marked as an automatic reply, else as automatically generated (RFC 3834)
  std::vector<MailFile> files{};
  Timestamp date{};
};

/// The mail as SMTP sends it: CRLF, lines of at most 998 bytes, ASCII only.
/// Example: src/features/channels/email/mail_writer_test.cpp: MailWriter.WritesWhatTheReaderReads
std::string write_mail(const MailDraft& draft);

}  // namespace agw
