#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The address at which an XMPP server accepts clients.
struct XmppServer {
  std::string host;  ///< a name or an IP address, without brackets
  std::uint16_t port = 0;
  bool is_direct_tls = false;  ///< TLS from the first byte (XEP-0368) instead of STARTTLS

  bool operator==(const XmppServer&) const = default;
};

/// Parses `xmpp://host` (STARTTLS) or `xmpps://host` (TLS), each with `:port` unless it is 5222 or 5223.
/// Example: src/io/xmpp/xmpp_address_test.cpp: XmppServer.IsSchemeHostAndPort
std::optional<XmppServer> parse_xmpp_server(std::string_view text);

/// Whether the host is literally `localhost` or a loopback address, rather than a name that resolves to one.
bool is_loopback_host(std::string_view host);

/// The account of an address (RFC 7622): `node@domain` in lower case, without a resource. Nullopt if the text is not an
/// address.
/// Example: src/io/xmpp/xmpp_address_test.cpp: XmppAccount.IsTheAddressWithoutItsResource
std::optional<std::string> xmpp_account(std::string_view address);

/// The part of an address after the slash: the device of a person, or the nickname in a room. Empty if there is none.
std::string_view xmpp_resource(std::string_view address);
/// The address without its resource, otherwise unchanged.
std::string_view without_resource(std::string_view address);
/// The part of an account after the `@`.
std::string_view xmpp_domain(std::string_view account);

}  // namespace agw
