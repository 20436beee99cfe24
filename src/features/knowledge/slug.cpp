#include "base/json/json.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/knowledge/files.hpp"

namespace agw {

namespace {

constexpr std::size_t max_slug_length = 100;

bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

/// Whether a new word begins at this byte, as in `deployNotes` and `HTTPServer`.
bool begins_word(std::string_view name, std::size_t place) {
  if (!is_upper(name[place]) || place == 0) return false;
  const char before = name[place - 1];
  if (is_lower_or_digit(before)) return true;
  return is_upper(before) && place + 1 < name.size() && name[place + 1] >= 'a' && name[place + 1] <= 'z';
}

/// The length in bytes of a character that separates words (spaces, dashes, quotes and the like): Latin-1 (U+0080 to
/// U+00BF), general punctuation (U+2000 to U+207F), Chinese and Japanese (U+3000 to U+303F).
std::size_t sign_at(std::string_view text) {
  if (text.starts_with('\xc2')) return 2;
  const auto beginning = text.substr(0, 2);
  return beginning == "\xe2\x80" || beginning == "\xe2\x81" || beginning == "\xe3\x80" ? 3 : 0;
}

void cut(std::string& slug) {
  slug.resize(utf8_prefix(slug, max_slug_length).size());
  while (slug.ends_with('-')) slug.pop_back();
}

}  // namespace

std::string slug_of(std::string_view raw_name) {
  const auto name = to_utf8(raw_name);
  std::string slug;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '\'') continue;
    const auto sign = sign_at(std::string_view(name).substr(i));
    const bool is_part = sign == 0 && (is_upper(c) || is_lower_or_digit(c) || is_beyond_ascii(c));
    if ((!is_part || begins_word(name, i)) && !slug.empty() && !slug.ends_with('-')) slug += '-';
    if (is_part) slug += c;
    if (sign > 1) i += sign - 1;
  }
  slug = lower_case(slug);
  cut(slug);
  return slug.empty() ? "page" : slug;
}

}  // namespace agw
