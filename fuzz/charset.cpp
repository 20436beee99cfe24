// Untrusted texts in any charset: they become UTF-8. The first line is the Content-Type.

#include <string>

#include "base/json/json.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "tools/charset.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto bytes = agw::fuzzing::text_of(data, size);
  const auto type = std::string(agw::fuzzing::take_line(bytes));
  agw::declares_charset(type);
  agw::fuzzing::require(agw::is_utf8(agw::text_to_utf8(bytes, type)));
  agw::fuzzing::require(agw::is_utf8(agw::html_to_utf8(bytes, type)));
  return 0;
}
