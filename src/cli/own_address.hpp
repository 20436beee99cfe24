#pragma once

#include <string>

#include "cli/find_gateway.hpp"

namespace agw::cli {

/// `url` with an address of this machine that others can reach in the place of `0.0.0.0` or `[::]`, which mean all of
/// its addresses and lead nowhere from another one. Where it has none but loopback, that.
std::string with_own_address(std::string url);

/// `public_url` of the gateway's configuration file, without a slash at its end; empty where there is none. Throws
/// StartError where the file is wrong.
std::string configured_public_url(const FoundGateway& gateway);

}  // namespace agw::cli
