#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// Where an XMPP server listens for clients.
struct XmppServer {
  std::string host;  ///< a name or an IP address, without brackets
  std::uint16_t port = 0;
  bool is_direct_tls = false;  ///< TLS from the first byte (XEP-0368), instead of STARTTLS

  bool operator==(const XmppServer&) const = default;
};

/// Parses `xmpp://host`, with TLS by STARTTLS, or `xmpps://host`, each with `:port` unless it is 5222 or 5223.
/// Example: src/io/xmpp/xmpp_address_test.cpp: XmppServer.IsSchemeHostAndPort
std::optional<XmppServer> parse_xmpp_server(std::string_view text);

/// Whether the host is written as `localhost` or a loopback address. A name that only resolves to one is not.
bool is_loopback_host(std::string_view host);

/// The account of an address (RFC 7622): `node@domain` in lower case, without a resource. nullopt if it is not an
/// address.
/// Example: src/io/xmpp/xmpp_address_test.cpp: XmppAccount.IsTheAddressWithoutItsResource
std::optional<std::string> xmpp_account(std::string_view address);

/// The part of an address after the slash: of a person, a device; in a room, the nickname. Empty if there is none.
std::string_view xmpp_resource(std::string_view address);
/// The address without its resource, as it is written.
std::string_view without_resource(std::string_view address);
/// The part of an account after the `@`.
std::string_view xmpp_domain(std::string_view account);

}  // namespace agw
