#include "config/addresses.hpp"

#include <algorithm>
#include <optional>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/address_v6.hpp>

#include "base/text/ascii.hpp"
#include "base/text/numbers.hpp"

namespace agw {

namespace {

bool is_v6(std::string_view text) {
  boost::system::error_code error;
  boost::asio::ip::make_address_v6(std::string(text), error);
  return !error;
}

/// Whether the text consists of letters, digits, `-` and `_`, in parts separated by single full stops. A full stop at
/// the end is allowed.
bool is_name(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const auto fits = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && !text.starts_with('.') && !text.ends_with('.') && text.find("..") == text.npos &&
         std::ranges::all_of(text, fits);
}

struct Authority {
  std::string_view host;
  std::string_view port;  ///< empty if there is none
};

/// Returns nullopt if a colon is not followed by a valid port.
std::optional<Authority> split(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == authority.npos) return std::nullopt;
  const auto colon = authority.find(':', bracket);
  if (colon == authority.npos) return Authority{authority, {}};
  const auto port = authority.substr(colon + 1);
  if (!parse_port(port)) return std::nullopt;
  return Authority{authority.substr(0, colon), port};
}

bool is_scheme(std::string_view text) {
  const auto fits = [](char c) { return is_alphanumeric(c) || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && std::ranges::all_of(text, fits);
}

std::string_view own_port(std::string_view scheme) { return scheme == "https" ? "443" : scheme == "http" ? "80" : ""; }

}  // namespace

bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
}

bool is_web_address(std::string_view text) {
  const auto scheme = text.starts_with("http://") ? 7u : text.starts_with("https://") ? 8u : 0u;
  if (scheme == 0 || !is_printable(text.substr(scheme))) return false;
  text.remove_prefix(scheme);
  auto authority = text.substr(0, text.find_first_of("/?#"));
  if (const auto user = authority.rfind('@'); user != authority.npos) authority.remove_prefix(user + 1);
  const auto parts = split(authority);
  // Non-ASCII names are valid: clients encode them.
  return parts && !parts->host.empty();
}

bool is_host_name(std::string_view text) { return is_name(text) || is_v6(text); }

bool is_origin(std::string_view text) {
  const auto end = text.find("://");
  if (end == text.npos || !is_scheme(text.substr(0, end))) return false;
  const auto scheme = boost::to_lower_copy(std::string(text.substr(0, end)));
  const auto parts = split(text.substr(end + 3));
  if (!parts) return false;
  const auto host = parts->host;
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  const bool is_host = in_brackets ? is_v6(host.substr(1, host.size() - 2)) : is_name(host);
  const bool named_in_vain = !parts->port.empty() && parts->port == own_port(scheme);
  return is_host && !named_in_vain;
}

}  // namespace agw
