// Rewrites JSON5 as JSON, token by token, and leaves the grammar to the JSON parser: tokens that JSON lacks are
// replaced by equivalent ones; comments and trailing commas are removed.

#include "base/json/json5.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

bool is_of_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '$' || c == '.' || c == '+' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Json5Writer {
public:
  explicit Json5Writer(std::string_view text) : text_(text) {}

  /// nullopt if the text contains an invalid token.
  std::optional<std::string> as_json() {
    while (skip_blanks()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        add(text_token());
      } else if (std::string_view("{}[]:,").find(c) != std::string_view::npos) {
        add_mark(c);
      } else {
        add(word_token());
      }
      if (failed_) return std::nullopt;
    }
    return failed_ ? std::nullopt : std::optional(std::move(json_));
  }

private:
  /// Returns false at the end of the text.
  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const auto rest = text_.substr(at_);
      if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (rest.starts_with("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        failed_ = failed_ || end == text_.npos;
        if (end == text_.npos) return false;
        at_ = end + 1;
      } else if (rest.starts_with("\xC2\xA0")) {
        ++at_;
      } else if (rest.starts_with("\xEF\xBB\xBF")) {
        at_ += 2;
      } else if (std::string_view(" \t\r\n\v\f").find(rest[0]) == std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

  void add(std::string_view token) {
    write_comma();
    json_.append(token).append(1, ' ');  // keeps adjacent tokens apart
  }

  void add_mark(char mark) {
    ++at_;
    const bool is_begun = json_.ends_with('{') || json_.ends_with('[');
    if (mark == ',') {
      // JSON allows no trailing comma, and JSON5 only one.
      failed_ = failed_ || is_begun || std::exchange(has_comma_, true);
      return;
    }
    if (mark == '}' || mark == ']') has_comma_ = false;
    write_comma();
    json_ += mark;
  }

  void write_comma() {
    if (std::exchange(has_comma_, false)) json_ += ',';
  }

  std::string text_token() {
    const char quote = text_[at_++];
    std::string token = "\"";
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const char c = text_[at_];
      if (c == '\n' || c == '\r') break;
      if (c == '\\') {
        add_escape(token);
      } else if (c == '"') {
        token += "\\\"";
      } else if (static_cast<unsigned char>(c) < 0x20) {
        token += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        token += c;
      }
    }
    failed_ = failed_ || at_ >= text_.size() || text_[at_] != quote;
    ++at_;
    return token + '"';
  }

  /// Leaves `at_` at the last character of the escape.
  void add_escape(std::string& token) {
    if (++at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '\r' && text_.substr(at_).starts_with("\r\n")) ++at_;
    if (c == '\n' || c == '\r') return;
    if (std::string_view("\"\\/bfnrtu").find(c) != std::string_view::npos) {
      token.append("\\").append(1, c);
    } else if (c == 'x') {
      token += "\\u00";  // followed by two digits, which the JSON parser checks
    } else if (c == 'v' || c == '0') {
      token += c == 'v' ? "\\u000b" : "\\u0000";
    } else {
      token += c;
    }
  }

  std::string word_token() {
    const auto begin = at_;
    while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    failed_ = failed_ || word.empty();
    if (is_name()) return fmt::format("\"{}\"", word);
    return word == "true" || word == "false" || word == "null" ? word : number(word);
  }

  /// Whether a colon follows.
  bool is_name() { return skip_blanks() && text_[at_] == ':'; }

  std::string number(std::string_view word) {
    const bool is_negative = word.starts_with('-');
    if (is_negative || word.starts_with('+')) word.remove_prefix(1);
    if (word == "Infinity" || word == "NaN") return "null";
    std::string digits(word);
    if (word.starts_with("0x") || word.starts_with("0X")) {
      std::uint64_t whole = 0;
      const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), whole, 16);
      failed_ = failed_ || error != std::errc() || end != word.data() + word.size();
      digits = std::to_string(whole);
    }
    if (digits.starts_with('.')) digits.insert(0, "0");
    const auto point = digits.find('.');
    const bool ends_there =
        point != digits.npos && (point + 1 == digits.size() || digits[point + 1] == 'e' || digits[point + 1] == 'E');
    if (ends_there) digits.insert(point + 1, "0");
    return is_negative ? "-" + digits : digits;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string json_;
  bool has_comma_ = false;  ///< a comma was read but not yet written
  bool failed_ = false;
};

}  // namespace

std::optional<json::value> parse_json5(std::string_view text) {
  const auto rewritten = Json5Writer(text).as_json();
  return rewritten ? parse_json(*rewritten) : std::nullopt;
}

}  // namespace agw
