#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/channels/email/mail_head.hpp"

namespace agw {

struct MailFile {
  std::string name;  ///< without control characters and directories, at most 200 bytes
  std::string mime;
  std::string bytes;
};

/// A mail (RFC 5322, MIME: RFC 2045 to 2049) as people see it.
struct Mail {
  MailHead head;
  std::string text;                    ///< in UTF-8: plain text, or HTML as Markdown
  std::vector<MailFile> files{};       ///< attachments, and pictures within the text
  std::vector<std::string> omitted{};  ///< remarks on omitted content, for people
};

/// Reads a mail, even if it is malformed: at most 10 nested multiparts and 100 parts. `omitted` names content that was
/// left out. Blocks.
/// Example: src/features/channels/email/mail_reader_test.cpp: MailReader.PrefersPlainText
Mail read_mail(std::string_view bytes);

}  // namespace agw
