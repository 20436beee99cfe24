#pragma once

#include "api/route.hpp"

namespace agw {

class BlockingPool;
class Secrets;

/// `/secrets`: names, and setting and deleting values. No value is ever given back.
Routes secret_routes(const Secrets& secrets, BlockingPool& blocking);

}  // namespace agw
