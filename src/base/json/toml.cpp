// A single-pass TOML parser that builds a tree of tables and converts it to JSON at the end. `table_` is the table of
// the last `[header]`, which new keys are added to. The libraries in Debian are templates of many thousand lines, which
// would make the binary much larger than this file does.

#include "base/json/toml.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr int max_toml_depth = 32;

using TomlPath = std::vector<std::string>;

bool is_bare(char c) { return is_alphanumeric(c) || c == '-' || c == '_'; }

struct TomlTable;

/// A value (including an inline table), or a table or list of tables with their own headers.
struct TomlEntry {
  json::value value{};
  std::unique_ptr<TomlTable> table{};
  std::vector<std::unique_ptr<TomlTable>> list{};

  bool is_empty() const { return value.is_null() && !table && list.empty(); }
};

struct TomlTable {
  std::map<std::string, TomlEntry, std::less<>> entries{};  // elements have stable addresses
  bool has_header = false;
};

json::object toml_object(TomlTable& table);

json::value toml_value(TomlEntry& entry) {
  if (entry.table) return toml_object(*entry.table);
  if (entry.list.empty()) return std::move(entry.value);
  json::array array;
  for (const auto& element : entry.list) array.push_back(toml_object(*element));
  return array;
}

json::object toml_object(TomlTable& table) {
  json::object object;
  for (auto& [name, entry] : table.entries) object[name] = toml_value(entry);
  return object;
}

class TomlReader {
public:
  explicit TomlReader(std::string_view text) : text_(text) {}

  json::object read() {
    for (skip_lines(); !at_end(); skip_lines()) {
      if (peek() == '[') {
        read_header();
      } else {
        read_pair(*table_, 0);
      }
      end_line();
    }
    return toml_object(root_);
  }

private:
  [[noreturn]] void fail(std::string_view why) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, std::min(at_, text_.size())), '\n');
    throw TomlError(fmt::format("line {}: {}", line, why));
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool starts(std::string_view piece) const { return text_.substr(std::min(at_, text_.size())).starts_with(piece); }

  bool take(std::string_view piece) {
    if (!starts(piece)) return false;
    at_ += piece.size();
    return true;
  }

  void expect(std::string_view piece) {
    if (!take(piece)) fail(fmt::format("{} is missing", piece));
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  void skip_comment() {
    if (peek() != '#') return;
    while (!at_end() && peek() != '\n') ++at_;
  }

  /// Skips blanks, comments and line ends.
  void skip_lines() {
    for (;;) {
      skip_blanks();
      skip_comment();
      if (!take("\n") && !take("\r\n")) return;
    }
  }

  void end_line() {
    skip_blanks();
    skip_comment();
    if (!at_end() && !take("\n") && !take("\r\n")) fail("something follows the value");
  }

  std::string read_key_part() {
    if (peek() == '"') return read_basic_text();
    if (peek() == '\'') return read_literal_text();
    std::string key;
    while (is_bare(peek())) key += text_[at_++];
    if (key.empty()) fail("a key is missing");
    return key;
  }

  TomlPath read_key() {
    TomlPath path;
    do {
      skip_blanks();
      path.push_back(read_key_part());
      if (path.size() > max_toml_depth) fail("is nested too deeply");
      skip_blanks();
    } while (take("."));
    return path;
  }

  void read_header() {
    const bool is_list = take("[[");
    if (!is_list) expect("[");
    const auto path = read_key();
    expect(is_list ? "]]" : "]");
    auto* table = &root_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) table = &table_below(*table, path[i]);
    table_ = is_list ? &new_element(*table, path.back()) : &table_of_header(*table, path.back());
  }

  /// The table `name` in `table`; the last one if it is a list.
  TomlTable& table_below(TomlTable& table, const std::string& name) const {
    auto& entry = table.entries[name];
    if (!entry.list.empty()) return *entry.list.back();
    if (!entry.value.is_null()) fail(fmt::format("{} is no table", name));
    if (!entry.table) entry.table = std::make_unique<TomlTable>();
    return *entry.table;
  }

  TomlTable& table_of_header(TomlTable& table, const std::string& name) const {
    if (!table.entries[name].list.empty()) fail(fmt::format("{} is a list of tables", name));
    auto& found = table_below(table, name);
    if (std::exchange(found.has_header, true)) fail(fmt::format("the table {} is there already", name));
    return found;
  }

  TomlTable& new_element(TomlTable& table, const std::string& name) const {
    auto& entry = table.entries[name];
    if (entry.table || !entry.value.is_null()) fail(fmt::format("{} is no list of tables", name));
    return *entry.list.emplace_back(std::make_unique<TomlTable>());
  }

  void read_pair(TomlTable& into, int depth) {
    const auto path = read_key();
    expect("=");
    auto* table = &into;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) table = &table_below(*table, path[i]);
    auto& entry = table->entries[path.back()];
    if (!entry.is_empty()) fail(fmt::format("{} is there already", path.back()));
    entry.value = read_value(depth + static_cast<int>(path.size()));
  }

  json::value read_value(int depth) {
    if (depth > max_toml_depth) fail("is nested too deeply");
    skip_blanks();
    if (starts("\"\"\"")) return json::string(read_long_text('"'));
    if (starts("'''")) return json::string(read_long_text('\''));
    if (peek() == '"') return json::string(read_basic_text());
    if (peek() == '\'') return json::string(read_literal_text());
    if (peek() == '[') return read_array(depth);
    if (peek() == '{') return read_inline_table(depth);
    return read_plain();
  }

  json::array read_array(int depth) {
    expect("[");
    json::array array;
    for (skip_lines(); !take("]"); skip_lines()) {
      array.push_back(read_value(depth + 1));
      skip_lines();
      if (take(",")) continue;
      expect("]");
      break;
    }
    return array;
  }

  json::object read_inline_table(int depth) {
    expect("{");
    TomlTable table;
    skip_blanks();
    if (take("}")) return {};
    do {
      read_pair(table, depth);
      skip_blanks();
    } while (take(","));
    expect("}");
    return toml_object(table);
  }

  std::string read_literal_text() {
    expect("'");
    const auto end = text_.find_first_of("'\n", at_);
    if (end == text_.npos || text_[end] == '\n') fail("a text does not end");
    const auto text = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(text);
  }

  std::string read_basic_text() {
    expect("\"");
    std::string text;
    while (!take("\"")) {
      if (at_end() || peek() == '\n') fail("a text does not end");
      if (peek() == '\\') {
        read_escape(text);
      } else {
        text += text_[at_++];
      }
    }
    return text;
  }

  std::string read_long_text(char quote) {
    const std::string mark(3, quote);
    expect(mark);
    if (!take("\r\n")) take("\n");
    std::string text;
    for (;;) {
      if (at_end()) fail("a text does not end");
      if (take(mark)) break;
      if (quote == '"' && peek() == '\\') {
        if (!skip_line_end()) read_escape(text);
      } else {
        text += text_[at_++];
      }
    }
    // Up to two quotes before the closing ones belong to the text.
    for (int i = 0; i < 2 && peek() == quote; ++i) text += text_[at_++];
    return text;
  }

  /// A backslash at the end of a line removes all white space up to the next character.
  bool skip_line_end() {
    const auto next = text_.find_first_not_of(" \t\r", at_ + 1);
    if (next == text_.npos || text_[next] != '\n') return false;
    at_ = std::min(text_.find_first_not_of(" \t\r\n", next), text_.size());
    return true;
  }

  void read_escape(std::string& text) {
    constexpr std::string_view letters = "btnfr\"\\e";
    constexpr std::string_view meanings = "\b\t\n\f\r\"\\\x1b";
    expect("\\");
    const char letter = peek();
    ++at_;
    if (letter == 'u' || letter == 'U') return append_code_point(text, letter == 'u' ? 4 : 8);
    const auto place = letters.find(letter);
    if (place == letters.npos) fail("an escape is unknown");
    text += meanings[place];
  }

  void append_code_point(std::string& text, std::size_t digits) {
    std::uint32_t code = 0;
    const auto piece = text_.substr(std::min(at_, text_.size()), digits);
    const auto [end, failed] = std::from_chars(piece.data(), piece.data() + piece.size(), code, 16);
    const bool is_scalar = code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
    if (failed != std::errc() || end != piece.data() + digits || !is_scalar) fail("an escape is no character");
    at_ += digits;
    append_utf8(text, code);
  }

  static void append_utf8(std::string& text, std::uint32_t code) {
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      text += static_cast<char>(0xE0 | (code >> 12));
      tail(6);
      tail(0);
    } else {
      text += static_cast<char>(0xF0 | (code >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  /// Reads a boolean, a number, a date or a time.
  json::value read_plain() {
    const auto end = std::min(text_.find_first_of(",]}#\r\n", at_), text_.size());
    auto plain = text_.substr(at_, end - at_);
    while (plain.ends_with(' ') || plain.ends_with('\t')) plain.remove_suffix(1);
    at_ += plain.size();
    if (plain == "true" || plain == "false") return plain == "true";
    if (auto number = number_in(plain)) return *number;
    const bool is_date = plain.size() >= 8 && (plain[2] == ':' || plain[4] == '-');
    const bool is_no_number = plain.ends_with("inf") || plain.ends_with("nan");
    if (!is_date && !is_no_number) fail("a value is missing, or a text is without quotes");
    return json::string(plain);
  }

  static std::optional<json::value> number_in(std::string_view plain) {
    std::string digits(plain);
    std::erase(digits, '_');
    int base = 10;
    std::string_view rest = digits;
    if (rest.starts_with('+')) rest.remove_prefix(1);
    for (const auto& [prefix, other] : {std::pair{"0x", 16}, {"0o", 8}, {"0b", 2}}) {
      if (!rest.starts_with(prefix)) continue;
      base = other;
      rest.remove_prefix(2);
    }
    std::int64_t whole = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), whole, base);
    if (failed == std::errc() && end == rest.data() + rest.size()) return whole;
    double number = 0;
    const bool is_float = base == 10 && !rest.empty() && rest.find_first_not_of("0123456789+-.eE") == rest.npos;
    if (!is_float) return std::nullopt;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (result.ec == std::errc() && result.ptr == rest.data() + rest.size()) return number;
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TomlTable root_;
  TomlTable* table_ = &root_;
};

}  // namespace

json::object toml_to_json(std::string_view text) { return TomlReader(text).read(); }

}  // namespace agw
