#pragma once

#include <string>

#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// `url` with an address of this machine that others can reach instead of `0.0.0.0` or `[::]`, which mean all of its
/// addresses and are useless elsewhere. Uses loopback if there is no other.
std::string with_reachable_host(std::string url);

/// `public_url` from the gateway's configuration file, without a trailing slash; empty if it is not set. Throws
/// StartError if the file is invalid.
std::string configured_public_url(const FoundGateway& gateway);

}  // namespace agw::cli
