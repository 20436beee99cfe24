#include "cli/transfer/json_pieces.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/utf8.hpp"

namespace agw::cli {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr std::string_view replacement = "\xef\xbf\xbd";

std::size_t count_replacements(std::string_view text) {
  std::size_t count = 0;
  for (auto at = text.find(replacement); at != text.npos; at = text.find(replacement, at + 1)) ++count;
  return count;
}

/// The code unit of `\uXXXX` at the start of `text`; 0 if there is none.
unsigned escaped_unit(std::string_view text) {
  constexpr std::size_t size = 6;
  unsigned unit = 0;
  if (text.size() < size || !text.starts_with("\\u")) return 0;
  const auto* const end = text.data() + size;
  const auto read = std::from_chars(text.data() + 2, end, unit, 16);
  return read.ptr == end ? unit : 0;
}

/// Finds the end of one value that arrives in pieces.
class ElementScanner {
public:
  explicit ElementScanner(char first) : depth_(first == '{' || first == '[' ? 1 : 0), in_string_(first == '"') {}

  /// The number of bytes of `piece` that belong to the value.
  std::size_t scan(std::string_view piece) {
    std::size_t used = 0;
    while (used < piece.size() && !complete_) {
      const char c = piece[used];
      if (!is_open() && (c == ',' || c == ']' || is_blank(c))) {
        complete_ = true;
      } else {
        take(c);
        ++used;
      }
    }
    return used;
  }

  bool complete() const { return complete_; }
  /// Whether an object, array or text is not closed yet.
  bool is_open() const { return depth_ > 0 || in_string_; }

private:
  void take(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (in_string_) {
      escaped_ = c == '\\';
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      complete_ = --depth_ <= 0;
    }
  }

  int depth_;
  bool in_string_;
  bool escaped_ = false;
  bool complete_ = false;
};

std::string with_whole_escapes(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const auto plain = std::min(text.find('\\'), text.size());
    whole += text.substr(0, plain);
    text.remove_prefix(plain);
    const auto unit = escaped_unit(text);
    const bool is_pair = is_high_surrogate(unit) && text.size() > 6 && is_low_surrogate(escaped_unit(text.substr(6)));
    const bool is_half = !is_pair && (is_high_surrogate(unit) || is_low_surrogate(unit));
    const auto size = std::min<std::size_t>(is_pair ? 12 : is_half ? 6 : 2, text.size());
    whole += is_half ? replacement : text.substr(0, size);
    text.remove_prefix(size);
  }
  return whole;
}

}  // namespace

std::optional<json::value> parse_source_json(std::string_view text, std::size_t& replaced) {
  if (auto value = parse_json(text)) return value;
  const auto mended = to_utf8(with_whole_escapes(text));
  auto value = parse_json(mended);
  if (value) replaced += count_replacements(mended) - count_replacements(text);
  return value;
}

bool JsonElements::refill() {
  if (bytes_.empty()) bytes_ = source_();
  return !bytes_.empty();
}

/// Finds the first character of the next element.
bool JsonElements::begin(char& first) {
  while (!ended_ && refill()) {
    first = bytes_.front();
    bytes_.remove_prefix(1);
    if (is_blank(first) || first == ',' || (!begun_ && (first & 0x80) != 0)) continue;  // includes a byte order mark
    if (!begun_ && first == '[') {
      begun_ = in_array_ = true;
      continue;
    }
    begun_ = true;
    if (in_array_ && first == ']') break;
    return true;
  }
  truncated_ = truncated_ || (!ended_ && bytes_.empty() && !(in_array_ && first == ']'));
  ended_ = true;
  return false;
}

bool JsonElements::capture(char first, std::string& element) {
  element.assign(1, first);
  bool fits = true;
  ElementScanner scanner(first);
  while (!scanner.complete()) {
    if (!refill()) {
      truncated_ = scanner.is_open() || in_array_;
      ended_ = true;
      return !truncated_ && fits;
    }
    const auto used = scanner.scan(bytes_);
    fits = fits && element.size() + used <= max_bytes_;
    if (fits) element.append(bytes_.substr(0, used));
    bytes_.remove_prefix(used);
  }
  ended_ = ended_ || !in_array_;
  if (!fits) ++too_large_;
  return fits;
}

bool JsonElements::next(std::string& element) {
  char first = 0;
  while (begin(first)) {
    if (capture(first, element)) return true;
  }
  return false;
}

bool TextLines::next(std::string& line) {
  line.clear();
  bool fits = true;
  while (!ended_) {
    if (bytes_.empty()) bytes_ = source_();
    ended_ = bytes_.empty();
    const auto end = bytes_.find('\n');
    const auto some = bytes_.substr(0, end);
    fits = fits && line.size() + some.size() <= max_bytes_;
    if (fits) line.append(some);
    bytes_.remove_prefix(end == bytes_.npos ? bytes_.size() : end + 1);
    if (end == bytes_.npos && !ended_) continue;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (std::exchange(is_first_, false) && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (!fits) ++too_large_;
    if (fits && !line.empty()) return true;
    line.clear();
    fits = true;
  }
  return false;
}

}  // namespace agw::cli
