#include "features/channels/email/mail_head.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>

#include "base/text/utf8.hpp"
#include "features/channels/email/mail_encoding.hpp"
#include "tools/charset.hpp"

namespace agw {

namespace {

constexpr std::size_t max_fields = 1000;
constexpr std::size_t max_addresses = 1000;
constexpr std::size_t max_message_ids = 100;
constexpr std::size_t max_message_id = 250;
constexpr std::size_t max_address = 254;  // RFC 5321, erratum 1690
constexpr std::size_t max_parameters = 100;

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

bool is_address(std::string_view text) {
  const auto at = text.find('@');
  const bool has_parts = at != text.npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == text.npos;
  if (!has_parts || text.size() > max_address || text.find("=?") != text.npos) return false;
  return std::ranges::all_of(text, [](char c) {
    return c > 0x20 && c < 0x7f && std::string_view("()<>[],;:\\\"").find(c) == std::string_view::npos;
  });
}

std::string from_percents(std::string_view text) {
  std::string bytes(text);
  std::ranges::replace(bytes, '=', ' ');
  std::ranges::replace(bytes, '%', '=');
  return decode_body(bytes, "quoted-printable");
}

/// One piece of a parameter: `filename*0*` is the first piece of `filename`, percent-encoded.
struct ParameterPiece {
  std::string name;
  int number = 0;
  bool is_extended = false;
  std::string value;
};

ParameterPiece piece_of(std::string_view text) {
  const auto equals = text.find('=');
  ParameterPiece piece{.name = lower_case(std::string(without_blanks(text.substr(0, equals)))), .value = {}};
  if (equals != text.npos) piece.value = unquoted(without_blanks(text.substr(equals + 1)));
  if (piece.name.ends_with('*')) {
    piece.is_extended = true;
    piece.name.pop_back();
  }
  const auto star = piece.name.rfind('*');
  if (star == piece.name.npos) return piece;
  for (const char digit : std::string_view(piece.name).substr(star + 1)) {
    if (digit >= '0' && digit <= '9' && piece.number < 1000) piece.number = piece.number * 10 + (digit - '0');
  }
  piece.name.resize(star);
  return piece;
}

/// Joins the pieces of one parameter, in their order, to a text.
std::string joined(const std::vector<ParameterPiece>& pieces) {
  std::string charset;
  std::string bytes;
  for (const auto& piece : pieces) {
    std::string_view value = piece.value;
    if (piece.is_extended && piece.number == 0) {
      const auto first = value.find('\'');
      const auto second = first == value.npos ? first : value.find('\'', first + 1);
      if (second != value.npos) {
        charset = value.substr(0, first);
        value.remove_prefix(second + 1);
      }
    }
    bytes += piece.is_extended ? from_percents(value) : std::string(value);
  }
  if (charset.empty()) return decode_header(bytes);
  return text_to_utf8(bytes, fmt::format("text/plain; charset={}", charset));
}

MailAddress read_address(std::string_view text) {
  const auto plain = without_comments(text);
  const auto parts = split_unquoted(plain, '<');
  if (parts.size() > 2) return {};
  const auto last = without_blanks(parts.back());
  auto address = last;
  if (parts.size() == 2) {
    if (!last.ends_with('>')) return {};
    address = without_blanks(last.substr(0, last.size() - 1));
  }
  if (!is_address(address)) return {};
  MailAddress read{.name = {}, .address = lower_case(std::string(address))};
  if (parts.size() == 2) read.name = boost::trim_copy(decode_header(unquoted(without_blanks(parts.front()))));
  return read;
}

}  // namespace

std::string_view MailHead::first(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &MailField::name);
  return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

std::vector<std::string_view> MailHead::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& field : fields) {
    if (field.name == name) values.emplace_back(field.value);
  }
  return values;
}

MailHead read_mail_head(std::string_view bytes) {
  MailHead head;
  while (head.size < bytes.size()) {
    const auto end = std::min(bytes.find('\n', head.size), bytes.size() - 1) + 1;
    auto line = bytes.substr(head.size, end - head.size);
    head.size = end;
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    const bool is_continued = line.starts_with(' ') || line.starts_with('\t');
    if (is_continued && !head.fields.empty()) {
      head.fields.back().value += line;
      continue;
    }
    const auto colon = line.find(':');
    if (is_continued || colon == line.npos || head.fields.size() >= max_fields) continue;
    head.fields.push_back(
        {lower_case(std::string(without_blanks(line.substr(0, colon)))), std::string(line.substr(colon + 1))});
  }
  return head;
}

std::string_view FieldValue::parameter(std::string_view name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

FieldValue read_field_value(std::string_view text) {
  const auto plain = without_comments(text);
  const auto parts = split_unquoted(plain, ';');
  FieldValue read{.value = lower_case(std::string(without_blanks(parts.front())))};
  std::map<std::string, std::vector<ParameterPiece>> pieces;
  for (std::size_t i = 1; i < std::min(parts.size(), max_parameters); ++i) {
    auto piece = piece_of(parts[i]);
    if (!piece.name.empty()) pieces[piece.name].push_back(std::move(piece));
  }
  for (auto& [name, all] : pieces) {
    std::ranges::sort(all, {}, &ParameterPiece::number);
    read.parameters[name] = joined(all);
  }
  return read;
}

std::vector<MailAddress> read_addresses(std::string_view text) {
  std::vector<MailAddress> addresses;
  const auto plain = without_comments(text);
  for (const auto one : split_unquoted(plain, ',')) {
    if (without_blanks(one).empty() || addresses.size() >= max_addresses) continue;
    addresses.push_back(read_address(one));
  }
  return addresses;
}

std::vector<std::string> read_message_ids(std::string_view text) {
  std::vector<std::string> ids;
  for (auto begin = text.find('<'); begin != text.npos && ids.size() < max_message_ids; begin = text.find('<', begin)) {
    const auto end = text.find('>', begin);
    if (end == text.npos) break;
    const auto id = text.substr(begin, end + 1 - begin);
    const bool is_plain = std::ranges::all_of(id, [](char c) { return c > 0x20 && c < 0x7f; });
    if (is_plain && id.size() > 2 && id.size() <= max_message_id && id.find('<', 1) == id.npos) ids.emplace_back(id);
    begin = end;
  }
  return ids;
}

std::string without_comments(std::string_view text) {
  std::string kept;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && (is_quoted || depth > 0);
    if (c == '"' && depth == 0) is_quoted = !is_quoted;
    if (c == '(' && !is_quoted) ++depth;
    if (depth == 0) kept += c;
    if (escapes && i + 1 < text.size()) {
      ++i;
      if (depth == 0) kept += text[i];
    }
    if (c == ')' && !is_quoted && depth > 0 && --depth == 0) kept += ' ';
  }
  return kept;
}

std::vector<std::string_view> split_unquoted(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  bool is_quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && is_quoted) {
      ++i;
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (text[i] == separator && !is_quoted) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(std::min(begin, text.size())));
  return parts;
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return std::string(text);
  text = text.substr(1, text.size() - 2);
  std::string content;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    content += text[i];
  }
  return content;
}

}  // namespace agw
