#include "cli/transfer/json_pieces.hpp"

#include <algorithm>

namespace agw::cli {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

bool JsonElements::refill() {
  if (bytes_.empty()) bytes_ = source_();
  return !bytes_.empty();
}

/// Finds the first character of the next element.
bool JsonElements::begin(char& first) {
  while (!ended_ && refill()) {
    first = bytes_.front();
    bytes_.remove_prefix(1);
    if (is_blank(first) || first == ',' || (!begun_ && (first & 0x80) != 0)) continue;  // A byte order mark, too.
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
  int depth = first == '{' || first == '[' ? 1 : 0;
  bool in_string = first == '"';
  bool escaped = false;
  bool complete = false;
  while (!complete) {
    if (!refill()) {
      truncated_ = depth > 0 || in_string || in_array_;
      ended_ = true;
      return !truncated_ && fits;
    }
    std::size_t used = 0;
    while (used < bytes_.size() && !complete) {
      const char c = bytes_[used];
      if (depth == 0 && !in_string && (c == ',' || c == ']' || is_blank(c))) {
        complete = true;
        break;
      }
      ++used;
      if (escaped) {
        escaped = false;
      } else if (in_string) {
        if (c == '\\') escaped = true;
        if (c == '"') in_string = false;
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        complete = --depth <= 0;
      }
    }
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
    if (!fits) ++too_large_;
    if (fits && !line.empty()) return true;
    line.clear();
    fits = true;
  }
  return false;
}

}  // namespace agw::cli
