#pragma once

#include "api/route.hpp"

namespace agw {

class Filesystem;

/// `/filesystem/ls` and `/filesystem/search`.
Routes filesystem_routes(Filesystem& filesystem);

}  // namespace agw
