#include "io/http/checked_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <boost/asio/ip/address.hpp>

#include "io/http/public_address.hpp"

namespace agw {

namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> address_of(const curl_sockaddr& address) {
  if (address.family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.addr);
    return ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.family != AF_INET6) return std::nullopt;
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(&address.addr)->sin6_addr, bytes.size());
  return ip::address_v6(bytes);
}

}  // namespace

curl_socket_t open_checked_socket(const curl_sockaddr& address, const AddressRule& rule, std::string& refused) {
  if (rule.public_only || rule.no_metadata) {
    const auto target = address_of(address);
    if (!target || is_metadata_address(*target) || (rule.public_only && !is_public_address(*target))) {
      refused = target ? target->to_string() : "unknown";
      return CURL_SOCKET_BAD;
    }
  }
  return socket(address.family, address.socktype | SOCK_CLOEXEC, address.protocol);
}

std::string refusal_text(const std::string& refused, const AddressRule& rule) {
  return fmt::format("it has the address {}, which is {}", refused,
                     rule.public_only ? "not one of the public internet" : "that of a cloud's metadata service");
}

}  // namespace agw
