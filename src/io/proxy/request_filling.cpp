#include "io/proxy/request_filling.hpp"

#include <algorithm>
#include <optional>

#include <openssl/evp.h>
#include <boost/algorithm/string/predicate.hpp>

#include "base/async/assert.hpp"
#include "base/text/ascii.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

constexpr std::uint16_t port_of_https = 443;
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view basic = "basic ";

std::string encoded_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const auto size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  AGW_ASSERT(size >= 0);
  AGW_ASSERT(static_cast<std::size_t>(size) < text.size());
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> decoded_base64(std::string text) {
  while (text.size() % 4 != 0) text += '=';
  std::string bytes(text.size() / 4 * 3, '\0');
  const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  AGW_ASSERT(static_cast<std::size_t>(size) <= bytes.size());
  const auto padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size - std::min(size, padding)));
  return bytes;
}

/// Decodes `user:password` from a field `Authorization: Basic`.
std::optional<std::string> credentials_in(std::string_view name, std::string_view value) {
  value = trimmed(value);
  if (!boost::iequals(name, "authorization") || !boost::istarts_with(value, basic)) return std::nullopt;
  return decoded_base64(std::string(trimmed(value.substr(basic.size()))));
}

enum class FilledForm { plain, percent_encoded };

/// Replaces in one pass, so that secrets are not searched for stand-ins.
std::string replaced(std::string_view text, const std::vector<Filling>& fillings, FilledForm form = FilledForm::plain) {
  std::string out;
  while (!text.empty()) {
    const auto found =
        std::ranges::find_if(fillings, [&](const Filling& each) { return text.starts_with(each.stand_in); });
    if (found == fillings.end()) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    out += form == FilledForm::percent_encoded ? percent_encode(found->value) : found->value;
    text.remove_prefix(found->stand_in.size());
  }
  return out;
}

bool holds_any(std::string_view text, const std::vector<Filling>& fillings) {
  return std::ranges::any_of(fillings, [&](const Filling& each) { return text.find(each.stand_in) != text.npos; });
}

struct Field {
  std::string_view name;
  std::string_view value;  ///< including the space before it
};

Field field_of(std::string_view line) {
  const auto colon = std::min(line.find(':'), line.size());
  return {.name = line.substr(0, colon), .value = line.substr(std::min(colon + 1, line.size()))};
}

std::string filled_field(std::string_view line, const std::vector<Filling>& fillings) {
  const auto [name, value] = field_of(line);
  if (boost::iequals(name, "host")) return std::string(line);
  if (const auto credentials = credentials_in(name, value); credentials && holds_any(*credentials, fillings))
    return std::string(name) + ": Basic " + encoded_base64(replaced(*credentials, fillings));
  return std::string(name) + ":" + replaced(value, fillings);
}

std::string filled_request_line(std::string_view line, const std::vector<Filling>& fillings) {
  const auto target = line.find(' ');
  const auto version = line.rfind(' ');
  if (target == line.npos || version <= target) return std::string(line);
  return std::string(line.substr(0, target)) +
         replaced(line.substr(target, version - target), fillings, FilledForm::percent_encoded) +
         std::string(line.substr(version));
}

/// Calls `each` with every line, without its line end, and whether it is the first.
template <class Each>
void visit_lines(std::string_view raw, Each each) {
  for (bool is_first = true; !raw.empty(); is_first = false) {
    const auto end = std::min(raw.find(line_end), raw.size());
    each(raw.substr(0, end), is_first);
    raw.remove_prefix(std::min(end + line_end.size(), raw.size()));
  }
}

}  // namespace

bool may_be_filled(const Head& head, const HostPort& target) {
  if (!head.target.starts_with('/') || head.method == "TRACE") return false;
  const auto named = to_host_port(head.field("host").value_or(""), port_of_https);
  return named && named->host == target.host && named->port == target.port;
}

bool holds_stand_in(std::string_view raw, std::string_view stand_in) {
  bool found = false;
  visit_lines(raw, [&](std::string_view line, bool is_first) {
    const auto [name, value] = field_of(line);
    found = found || (is_first ? line : value).find(stand_in) != line.npos;
    const auto credentials = is_first ? std::nullopt : credentials_in(name, value);
    found = found || (credentials && credentials->find(stand_in) != credentials->npos);
  });
  return found;
}

std::string filled(std::string_view raw, const std::vector<Filling>& fillings) {
  // A line end in a secret would add fields to the request.
  AGW_ASSERT(std::ranges::all_of(fillings, fits_in_head, &Filling::value));
  AGW_ASSERT(std::ranges::none_of(fillings, &std::string::empty, &Filling::stand_in));
  std::string out;
  visit_lines(raw, [&](std::string_view line, bool is_first) {
    if (is_first)
      out += filled_request_line(line, fillings);
    else if (!line.empty())
      out += filled_field(line, fillings);
    out += line_end;
  });
  return out;
}

bool fits_in_head(std::string_view value) { return std::ranges::none_of(value, is_control); }

}  // namespace agw
