// Mails: the parsed text is UTF-8 and within its limits, and the statements about senders are correct.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json/json.hpp"
#include "features/channels/email/mail_encoding.hpp"
#include "features/channels/email/mail_reader.hpp"
#include "features/channels/email/mail_sender.hpp"
#include "features/channels/email/mail_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto mail = agw::read_mail({reinterpret_cast<const char*>(data), size});
  if (!agw::is_utf8(mail.text) || !agw::is_utf8(agw::own_text(mail.text)) || mail.files.size() > 100) std::abort();
  for (const auto& file : mail.files) {
    if (file.name.empty() || file.name.find('/') != file.name.npos || !agw::is_utf8(file.name)) std::abort();
  }
  if (!agw::is_utf8(agw::decode_header(mail.head.first("subject")))) std::abort();
  agw::is_automatic(mail.head);
  const auto sender = agw::authentic_sender(mail.head, "mx.example.com");
  if (sender && (mail.head.all("from").size() != 1 || sender->address.find('@') == sender->address.npos)) std::abort();
  return 0;
}
