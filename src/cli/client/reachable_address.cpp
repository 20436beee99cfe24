#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <optional>

#include <boost/asio/ip/address_v4.hpp>

#include "base/data_files.hpp"
#include "cli/client/find_gateway.hpp"
#include "config/settings.hpp"

namespace agw::cli {

namespace {

using boost::asio::ip::address_v4;

constexpr unsigned wanted = IFF_UP | IFF_RUNNING;

std::optional<address_v4> reachable_address(const ifaddrs& entry) {
  if (!entry.ifa_addr || entry.ifa_addr->sa_family != AF_INET) return std::nullopt;
  if ((entry.ifa_flags & wanted) != wanted || (entry.ifa_flags & IFF_LOOPBACK)) return std::nullopt;
  sockaddr_in address{};
  std::memcpy(&address, entry.ifa_addr, sizeof address);
  return address_v4(ntohl(address.sin_addr.s_addr));
}

address_v4 reachable_address() {
  ifaddrs* entries = nullptr;
  if (::getifaddrs(&entries) != 0) return address_v4::loopback();
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(entries, ::freeifaddrs);
  for (const auto* entry = entries; entry; entry = entry->ifa_next) {
    if (const auto found = reachable_address(*entry)) return *found;
  }
  return address_v4::loopback();
}

}  // namespace

std::string with_reachable_host(std::string url) {
  for (const std::string_view every : {"://0.0.0.0:", "://[::]:"}) {
    const auto at = url.find(every);
    if (at != url.npos) url.replace(at, every.size(), "://" + reachable_address().to_string() + ":");
  }
  return url;
}

std::string configured_public_url(const FoundGateway& gateway) {
  SettingsSources sources;
  sources.file = gateway.data_directory / data_files::configuration;
  auto url = load_settings(sources).public_url;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace agw::cli
