#include "io/http/public_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/containers.hpp"

namespace agw {

namespace {

namespace ip = boost::asio::ip;

struct Network4 {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0, std::uint32_t d = 0) {
  return a << 24 | b << 16 | c << 8 | d;
}

/// IANA's registry of special-purpose addresses, except for globally reachable ones.
constexpr std::array special_4{
    Network4{v4(0, 0), 8},           // this network
    Network4{v4(10, 0), 8},          // private
    Network4{v4(100, 64), 10},       // shared by customers of a provider; metadata services of some clouds
    Network4{v4(127, 0), 8},         // loopback
    Network4{v4(169, 254), 16},      // link-local; metadata services of most clouds
    Network4{v4(172, 16), 12},       // private
    Network4{v4(192, 0, 0), 24},     // protocol assignments
    Network4{v4(192, 0, 2), 24},     // documentation
    Network4{v4(192, 88, 99), 24},   // relays of 6to4
    Network4{v4(192, 168), 16},      // private
    Network4{v4(198, 18), 15},       // benchmarks
    Network4{v4(198, 51, 100), 24},  // documentation
    Network4{v4(203, 0, 113), 24},   // documentation
    Network4{v4(224, 0), 3},         // multicast, reserved, broadcast
};

bool is_public(const ip::address_v4& address) {
  return std::ranges::none_of(special_4, [bytes = address.to_uint()](const Network4& network) {
    return (bytes ^ network.address) >> (32 - network.bits) == 0;
  });
}

ip::address_v4 embedded(const ip::address_v6::bytes_type& bytes, std::size_t at) {
  return ip::address_v4({bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]});
}

/// Whether an IPv6 address begins with the first `bits` of these four groups.
bool begins_with(const ip::address_v6::bytes_type& bytes, std::array<std::uint16_t, 4> groups, int bits) {
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < 8; ++i) first = first << 8 | bytes[i];
  std::uint64_t prefix = 0;
  for (const auto group : groups) prefix = prefix << 16 | group;
  return (first ^ prefix) >> (64 - bits) == 0;
}

bool is_nat64(const ip::address_v6::bytes_type& bytes) {
  return begins_with(bytes, {0x64, 0xff9b, 0, 0}, 64) && std::all_of(&bytes[8], &bytes[12], [](auto b) { return !b; });
}

bool is_public(const ip::address_v6& address) {
  const auto bytes = address.to_bytes();
  if (address.is_v4_mapped()) return is_public(embedded(bytes, 12));
  if (is_nat64(bytes)) return is_public(embedded(bytes, 12));
  if (begins_with(bytes, {0x2002, 0, 0, 0}, 16)) return is_public(embedded(bytes, 2));  // 6to4
  const bool is_global_unicast = begins_with(bytes, {0x2000, 0, 0, 0}, 3);
  const bool is_special = begins_with(bytes, {0x2001, 0, 0, 0}, 23) ||      // Teredo, benchmarks, ORCHID
                          begins_with(bytes, {0x2001, 0xdb8, 0, 0}, 32) ||  // documentation
                          begins_with(bytes, {0x3fff, 0, 0, 0}, 20);        // documentation
  return is_global_unicast && !is_special;
}

}  // namespace

bool is_metadata_address(const ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    // Addresses of Alibaba Cloud, Azure and Oracle Cloud outside of the link-local range.
    static const std::array others = {ip::make_address_v4("100.100.100.200"), ip::make_address_v4("168.63.129.16"),
                                      ip::make_address_v4("192.0.0.192")};
    const bool is_link_local = bytes[0] == 169 && bytes[1] == 254;
    return is_link_local || contains(others, address.to_v4());
  }
  const auto six = address.to_v6();
  const auto bytes = six.to_bytes();
  if (six.is_v4_mapped()) return is_metadata_address(embedded(bytes, 12));
  if (is_nat64(bytes)) return is_metadata_address(embedded(bytes, 12));
  static const auto of_amazon = ip::make_address_v6("fd00:ec2::254").to_bytes();
  return six.is_link_local() || bytes == of_amazon;
}

bool is_public_address(const ip::address& address) {
  return address.is_v4() ? is_public(address.to_v4()) : is_public(address.to_v6());
}

std::string_view without_root(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

std::optional<ip::address> numeric_address(const std::string& host) {
  boost::system::error_code is_name;
  const auto address = ip::make_address(host, is_name);
  if (!is_name) return address;
  in_addr number{};
  const bool has_more = host.find_first_of(" \t\n\v\f\r") != host.npos;  // which inet_aton() would ignore
  if (has_more || ::inet_aton(host.c_str(), &number) == 0) return std::nullopt;
  return ip::address_v4(ntohl(number.s_addr));
}

}  // namespace agw
