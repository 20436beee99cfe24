#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// Which `Host` and `Origin` a request may carry: the fence against web pages that rebind a name to this machine, or
/// that call the gateway from a foreign origin.
class Hosts {
public:
  struct Options {
    std::string bound_host = "127.0.0.1";  ///< address that the gateway listens on
    int port = 0;                          ///< the real one
    bool tls = false;
    std::vector<std::string> hosts;    ///< further names from the configuration
    std::vector<std::string> origins;  ///< further origins from the configuration
    std::string public_url;            ///< where others reach it, by way of a proxy perhaps; empty: nowhere else
  };

  explicit Hosts(Options options);

  /// Whether `host` (a Host field: name or address, with or without port) may address this gateway.
  bool allows_host(std::string_view host) const;

  /// Whether a page of `origin` may call it, for a request that came to `host`.
  bool allows_origin(std::string_view origin, std::string_view host) const;

  /// Whether `origin` is literally the page's own address, which needs no CORS headers.
  bool same_origin(std::string_view origin, std::string_view host) const;

  std::string_view scheme() const { return options_.tls ? "https://" : "http://"; }

  /// That of the address that a client used which came to `host`: a proxy may have taken the encryption off.
  std::string_view scheme_of(std::string_view host) const;

private:
  Options options_;
  bool loopback_;
  std::vector<std::string> own_;          ///< what nearly every request comes to, so that it need not be judged
  std::vector<std::string> own_origins_;  ///< without their scheme
  std::string public_origin_;             ///< empty where there is none
};

/// The host of a Host field without its port and without the brackets of an IPv6 address, in lower case; empty for what
/// is no Host.
std::string host_name(std::string_view host);

}  // namespace agw
