#pragma once

#include <string>

namespace agw::cli {

/// `url` with an address of this machine that others can reach in the place of `0.0.0.0` or `[::]`, which mean all of
/// its addresses and lead nowhere from another one. Where it has none but loopback, that.
std::string with_own_address(std::string url);

}  // namespace agw::cli
