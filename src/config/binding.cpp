#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "config/addresses.hpp"
#include "config/settings.hpp"

namespace agw {

bool is_loopback(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string name(host);
  if (name.find('\0') != name.npos) return false;  // system calls would read only up to the NUL
  if (strcasecmp(name.c_str(), "localhost") == 0) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == IN_LOOPBACKNET;
  in6_addr v6{};
  if (inet_pton(AF_INET6, name.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == IN_LOOPBACKNET);
}

std::string check_binding(const Settings& settings) {
  if (is_loopback(settings.host)) return {};
  if (settings.auth == Auth::none) {
    throw StartError(
        ExitStatus::usage,
        fmt::format("{} is reachable from other machines, and there is no token to keep them out: listen on "
                    "127.0.0.1, or start without --no-token and `auth: none`",
                    settings.host));
  }
  const auto* encryption =
      settings.tls.cert.empty() ? ", unencrypted: set tls, or put a proxy that has it in front" : "";
  return fmt::format("listening on {}, which other machines can reach{}", settings.host, encryption);
}

}  // namespace agw
