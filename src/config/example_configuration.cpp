#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "config/keys.hpp"

namespace agw {

namespace {

/// Wraps words into comment lines of at most 100 characters.
std::string as_comment(const std::string& text) {
  std::string out = "#";
  std::size_t column = 1;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column + 1 + word.size() > 100) {
      out += "\n#";
      column = 1;
    }
    out += " " + word;
    column += 1 + word.size();
  }
  return out + "\n";
}

/// Only for defaults: none of their texts needs quotes.
std::string as_yaml(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : value.is_null() ? std::string() : to_json(value);
}

std::string describe(const Key<Settings>& key) {
  auto text = std::string(key.text);
  if (key.name != "providers") text += fmt::format(" Must be {}.", key.value.kind);
  if (!key.flag.empty()) text += fmt::format(" Flag: {}.", key.flag);
  if (!key.environment.empty()) text += fmt::format(" Environment: {}.", key.environment);
  return text;
}

/// Returns the lines that open the sections of `name`, except those that are open after `previous`.
std::string open_sections(std::string_view previous, std::string_view name) {
  std::string out;
  std::string indent;
  for (std::size_t dot = name.find('.'), begin = 0; dot != name.npos; begin = dot + 1, dot = name.find('.', begin)) {
    const bool opened = previous.starts_with(name.substr(0, dot + 1));
    if (!opened) out += fmt::format("#{}{}:\n", indent, name.substr(begin, dot - begin));
    indent += "  ";
  }
  return out;
}

}  // namespace

std::string example_configuration() {
  std::string out =
      "# The configuration of Agent Gateway, read at startup. Flags and environment variables take precedence.\n"
      "# Every key is listed with its default or an example: remove the # in front of a key to set it.\n";
  const Settings defaults;
  std::string_view previous;
  for (const auto& key : settings_keys()) {
    const auto shown = key.example.empty() ? as_yaml(key.value.get(defaults)) : std::string(key.example);
    const auto depth = static_cast<std::size_t>(std::ranges::count(key.name, '.'));
    const auto leaf = key.name.substr(key.name.rfind('.') + 1);
    out += "\n" + as_comment(describe(key)) + open_sections(previous, key.name);
    out += fmt::format("#{}{}: {}\n", std::string(2 * depth, ' '), leaf, shown);
    previous = key.name;
  }
  return out;
}

void write_example_configuration(const std::filesystem::path& file) {
  const auto fail = [&] {
    throw StartError(ExitStatus::usage, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  };
  // "x" keeps a file that a person has created in the meantime. A truncated example is still valid: it contains only
  // comments.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "wxe"), std::fclose);
  if (!stream && errno == EEXIST) return;
  if (!stream) return fail();
  const auto text = example_configuration();
  if (std::fwrite(text.data(), 1, text.size(), stream.get()) != text.size() || std::fflush(stream.get()) != 0) fail();
}

}  // namespace agw
