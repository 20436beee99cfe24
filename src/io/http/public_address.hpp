#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace agw {

/// Whether an address is on the public internet. URLs chosen by documents or models may not lead to other addresses:
/// this host, its networks, link-local and unique-local addresses, multicast, reserved ranges, and IPv6 addresses that
/// embed such an IPv4 address.
/// Example: src/io/http/public_address_test.cpp: PublicAddress.IsNoneOfThisHostAndItsNetworks
bool is_public_address(const boost::asio::ip::address& address);

/// Whether a cloud's metadata service may use that address: all link-local ones, and a few others used by clouds.
bool is_metadata_address(const boost::asio::ip::address& address);

/// A fully qualified host name without the dot at its end, which stands for the root (RFC 1034, section 3.1).
std::string_view without_root(std::string_view host);

/// The address that the host of a URL stands for if it is no name, without brackets: also a number, as resolvers accept
/// it, such as `0xA9FEA9FE`.
/// Example: src/io/http/public_address_test.cpp: NumericAddress.HasEveryFormThatResolversAccept
std::optional<boost::asio::ip::address> numeric_address(const std::string& host);

}  // namespace agw
