#include "io/xmpp/xmpp_address.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "base/text/ascii.hpp"
#include "base/text/numbers.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::uint16_t starttls_port = 5222;
constexpr std::uint16_t tls_port = 5223;
/// The limit for each part of an address (RFC 7622, section 3.1).
constexpr std::size_t max_part = 1023;

bool may_be_in_host(char c) { return is_alphanumeric(c) || c == '.' || c == '-'; }

/// Sets the host and returns the text after it. Nullopt if there is none.
std::optional<std::string_view> take_host(std::string_view text, std::string& host) {
  const bool is_bracketed = text.starts_with('[');
  const auto end = is_bracketed ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == text.npos) return std::nullopt;
  host = text.substr(is_bracketed ? 1 : 0, is_bracketed ? end - 1 : end);
  boost::system::error_code error;
  if (is_bracketed)
    boost::asio::ip::make_address_v6(host, error);
  else if (host.empty() || !std::ranges::all_of(host, may_be_in_host))
    return std::nullopt;
  if (error) return std::nullopt;
  return text.substr(end + (is_bracketed ? 1 : 0));
}

bool is_forbidden_in_account(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
         std::string_view("\"&'/:<>").find(c) != std::string_view::npos;
}

}  // namespace

std::optional<XmppServer> parse_xmpp_server(std::string_view text) {
  constexpr std::string_view starttls = "xmpp://";
  constexpr std::string_view tls = "xmpps://";
  XmppServer server{.host = {}, .is_direct_tls = text.starts_with(tls)};
  if (!server.is_direct_tls && !text.starts_with(starttls)) return std::nullopt;
  text.remove_prefix(server.is_direct_tls ? tls.size() : starttls.size());
  const auto rest = take_host(text, server.host);
  if (!rest || (!rest->empty() && !rest->starts_with(':'))) return std::nullopt;
  const auto port = rest->empty() ? (server.is_direct_tls ? tls_port : starttls_port) : parse_port(rest->substr(1));
  if (!port) return std::nullopt;
  server.port = *port;
  return server;
}

bool is_loopback_host(std::string_view host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return error ? host == "localhost" : address.is_loopback();
}

std::optional<std::string> xmpp_account(std::string_view address) {
  const auto bare = without_resource(address);
  const auto at = bare.find('@');
  if (at == bare.npos || at == 0 || at > max_part) return std::nullopt;
  const auto domain = bare.substr(at + 1);
  const bool is_wrong = domain.empty() || domain.size() > max_part || domain.find('@') != domain.npos ||
                        std::ranges::any_of(bare, is_forbidden_in_account);
  if (is_wrong) return std::nullopt;
  return lower_case(bare);
}

std::string_view xmpp_resource(std::string_view address) {
  const auto slash = address.find('/');
  return slash == address.npos ? std::string_view() : address.substr(slash + 1);
}

std::string_view without_resource(std::string_view address) { return address.substr(0, address.find('/')); }

std::string_view xmpp_domain(std::string_view account) { return account.substr(account.find('@') + 1); }

}  // namespace agw
