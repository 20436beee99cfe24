#pragma once

#include <boost/asio/ip/address.hpp>

namespace agw {

/// Whether an address is on the public internet. URLs chosen by documents or models may not lead to other addresses:
/// this host, its networks, link-local and unique-local addresses, multicast, reserved ranges, and IPv6 addresses that
/// embed such an IPv4 address.
/// Example: src/io/http/public_address_test.cpp: PublicAddress.IsNoneOfThisHostAndItsNetworks
bool is_public_address(const boost::asio::ip::address& address);

/// Whether a cloud's metadata service may use that address: all link-local ones, and a few others used by clouds.
bool is_metadata_address(const boost::asio::ip::address& address);

}  // namespace agw
