#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

struct Settings;

/// The `Host` and `Origin` fields that a request may have: protection from DNS rebinding and from web pages of foreign
/// origins.
/// Example: src/server/http/hosts_test.cpp: Hosts.OnLoopbackOnlyLoopbackNamesAndConfiguredOnesAddressTheGateway
class Hosts {
public:
  struct Options {
    std::string bound_host = "127.0.0.1";  ///< the listening address
    int port = 0;                          ///< the port in use
    bool tls = false;
    std::vector<std::string> hosts;    ///< additional names from the configuration
    std::vector<std::string> origins;  ///< additional origins from the configuration
    std::string public_url;            ///< the address for other machines, for example of a reverse proxy; may be empty
  };

  explicit Hosts(Options options);

  /// Whether `host` (a Host field: name or address, with or without port) is a valid name of this gateway.
  bool allows_host(std::string_view host) const;

  /// Whether a page of `origin` may send a request to `host`.
  bool allows_origin(std::string_view origin, std::string_view host) const;

  /// Whether `origin` is the origin of `host` itself, so that no CORS headers are needed.
  bool same_origin(std::string_view origin, std::string_view host) const;

  std::string_view scheme() const { return options_.tls ? "https://" : "http://"; }

  /// The scheme that a client of `host` used: a reverse proxy may have terminated TLS.
  std::string_view scheme_of(std::string_view host) const;

private:
  Options options_;
  bool loopback_;
  std::vector<std::string> own_;          ///< the most common hosts, compared first
  std::vector<std::string> own_origins_;  ///< without the scheme
  std::string public_origin_;             ///< may be empty
};

/// The host of a Host field in lower case, without its port, the brackets of an IPv6 address and the dot of the root;
/// empty if it is invalid.
std::string host_name(std::string_view host);

/// The options from the configuration, for a gateway that listens on `port`.
Hosts::Options hosts_options(const Settings& settings, int port);

}  // namespace agw
