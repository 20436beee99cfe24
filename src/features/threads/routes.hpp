#pragma once

#include "api/route.hpp"

namespace agw {

class Threads;

/// `/threads` and `/turns`, except the endpoints that start or end runs.
Routes thread_routes(Threads& threads);

}  // namespace agw
