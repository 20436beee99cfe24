// Settings files of other programs: TOML is rejected with a line number or becomes JSON; JSON is also valid JSON5 with
// the same value.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json/json.hpp"
#include "base/json/json5.hpp"
#include "base/json/toml.hpp"
#include "base/text/utf8.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!agw::is_utf8(text)) return 0;
  const auto plain = agw::parse_json(text);
  const auto read = agw::parse_json5(text);
  if (plain && (!read || agw::to_json(*plain) != agw::to_json(*read))) std::abort();
  try {
    const auto settings = agw::toml_to_json(text);
    if (!agw::is_utf8(agw::to_json(settings))) std::abort();
  } catch (const agw::TomlError& error) {
    if (!std::string_view(error.what()).starts_with("line ")) std::abort();
  }
  return 0;
}
