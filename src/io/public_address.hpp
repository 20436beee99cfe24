#pragma once

#include <boost/asio/ip/address.hpp>

namespace agw {

/// Whether an address is one of the public internet. Everything else is refused where a document or a model chose what
/// to connect to: this host, its networks, link-local and unique-local addresses, multicast, what is reserved, and
/// IPv6 addresses that stand for such an IPv4 one.
bool is_public_address(const boost::asio::ip::address& address);

}  // namespace agw
