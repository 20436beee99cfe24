#pragma once

#include "api/route.hpp"

namespace agw {

class Channels;

/// `/channels`.
Routes channel_routes(Channels& channels);

}  // namespace agw
