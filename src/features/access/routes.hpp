#pragma once

#include "api/route.hpp"

namespace agw {

class Access;

/// The endpoints that pair devices, `/pair` and `/pair/refresh`.
Routes pairing_routes(Access& access);

}  // namespace agw
