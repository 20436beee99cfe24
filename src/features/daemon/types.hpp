#pragma once

#include <string>

#include "base/json/described.hpp"

namespace agw {

/// `GET /health`.
struct Health {
  std::string status = "ok";
  double uptime = 0;  ///< seconds since the process started, with a resolution of milliseconds
};
const Description& describe(Tag<Health>);

/// A response with only a status: `stopping`, `restarting`, `ok` …
struct Status {
  std::string status;
};
const Description& describe(Tag<Status>);

}  // namespace agw
