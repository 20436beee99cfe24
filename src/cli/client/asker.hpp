#pragma once

#include <optional>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"

namespace agw::cli {

/// Asks the person who uses this program about permission requests and questions of agents.
class Asker {
public:
  Asker() = default;
  virtual ~Asker() = default;
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  /// Asks about one request at a time; returns the body of `POST /permissions/:id`. Nullopt leaves the decision to
  /// other clients. `over` is requested once the answer is no longer needed.
  virtual Task<std::optional<json::object>> ask(json::object request, StopSource& over) = 0;

  /// Shows that the request was decided by another client or automatically. `decided` has its `decision`, `scope` and
  /// `by`.
  virtual void show_decision(const json::object& decided) = 0;
};

}  // namespace agw::cli
