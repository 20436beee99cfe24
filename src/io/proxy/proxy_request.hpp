#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// A host and port that a program wants to reach.
struct HostPort {
  std::string host;  ///< lower case, without the brackets of an IPv6 address and without a trailing dot
  std::uint16_t port = 0;

  /// `host:port`, with brackets around an IPv6 address.
  std::string text() const;
  bool operator==(const HostPort&) const = default;
};

/// The head of a request to a proxy (RFC 9112, 3.2.2 and 3.2.3).
struct ProxyRequest {
  HostPort target;
  bool is_tunnel = false;  ///< CONNECT
  std::string head{};      ///< if not a tunnel: the head for the target, which closes the connection after its response
};

/// Parses `HOST:PORT` and `[IPV6]:PORT`; `standard` is the default port, or 0 if a port is required.
std::optional<HostPort> to_host_port(std::string_view text, std::uint16_t standard);

/// Parses a complete head including its empty line; nullopt if it is not a request to a proxy.
/// Example: src/io/proxy/proxy_request_test.cpp: ProxyRequest.ReadsATunnel
std::optional<ProxyRequest> read_proxy_request(std::string_view head);

/// A complete response of the proxy itself: a status, and one sentence for people. It closes the connection.
std::string proxy_response(unsigned status, std::string_view sentence);

}  // namespace agw
