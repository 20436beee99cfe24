#include "server/http/target.hpp"

#include <algorithm>

#include "api/refusals.hpp"
#include "base/json/json.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::size_t usual_segments = 4;

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Calls `use` for each piece of `text` between separators.
template <class Use>
void split(std::string_view text, char separator, Use use) {
  for (;;) {
    const auto end = text.find(separator);
    use(text.substr(0, end));
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Whether decoding changes nothing. Without an early exit, so that it compiles to vector instructions.
bool is_plain(std::string_view text, Plus plus) {
  const char space = plus == Plus::space ? '+' : '%';
  bool plain = true;
  for (const char c : text) plain &= c != '%' && c != space && static_cast<signed char>(c) > 0;
  return plain;
}

void parse_query(std::string_view query, Target& target) {
  split(query, '&', [&](std::string_view pair) {
    if (pair.empty()) return;
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = percent_decoded(pair.substr(0, equals), Plus::space);
    auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())), Plus::space);
    if (!name || !value)
      target.bad_query = true;
    else
      target.parameters.emplace_back(std::move(*name), std::move(*value));
  });
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, Plus plus) {
  if (is_plain(text, plus)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const bool whole = i + 2 < text.size();
      const int high = whole ? hex_value(text[i + 1]) : -1;
      const int low = whole ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus == Plus::space && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (!is_utf8(out)) return std::nullopt;
  return out;
}

void check_path(const Target& target) {
  if (target.bad_path) throw BadRequest("invalid path");
}

void check_target(const Target& target) {
  check_path(target);
  if (target.bad_query) throw invalid_query();
}

Target parse_target(std::string_view text) {
  Target target;
  if (const auto scheme = text.starts_with('/') ? text.npos : text.find("://"); scheme != text.npos) {
    text.remove_prefix(scheme + 3);
    const auto end = std::min(text.find_first_of("/?"), text.size());
    target.authority = std::string(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.starts_with('/')) target.segments.emplace_back();
  }
  const auto question = text.find('?');
  target.path = text.substr(0, question);
  target.segments.reserve(usual_segments);
  if (target.path.starts_with('/')) {
    split(target.path.substr(1), '/', [&](std::string_view segment) {
      auto decoded = percent_decoded(segment);
      if (!decoded) target.bad_path = true;
      target.segments.push_back(decoded ? std::move(*decoded) : std::string(segment));
    });
  }
  if (question != text.npos) parse_query(text.substr(question + 1), target);
  return target;
}

}  // namespace agw
