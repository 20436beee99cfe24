#pragma once

#include "serve_options.hpp"

namespace agw {

/// Runs the gateway in the foreground until it is stopped, and returns its exit status. What keeps it from starting is
/// said on stderr.
int serve(const ServeOptions& options);

}  // namespace agw
