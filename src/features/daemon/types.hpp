#pragma once

#include <string>

#include "base/json/described.hpp"

namespace agw {

/// `GET /health`.
struct Health {
  std::string status = "ok";
  double uptime = 0;  ///< seconds since the process started, in milliseconds' steps
};
const Description& describe(Tag<Health>);

/// An answer that says only what happened: `stopping`, `restarting`, `ok` …
struct Status {
  std::string status;
};
const Description& describe(Tag<Status>);

}  // namespace agw
