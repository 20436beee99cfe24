#pragma once

#include <chrono>
#include <vector>

#include "base/task.hpp"
#include "features/signals/types.hpp"
#include "storage/along.hpp"

namespace agw {

class Database;
class Hub;

/// Where features and clients report what a person should look at, and where it is read.
class Signals {
public:
  /// Signals are kept for `retention`.
  Signals(Database& database, Hub& hub, const Clock& clock, std::chrono::days retention);

  /// Keeps the signal and publishes it as `signal`. Throws BadRequest `kind is required`, `message is required` where
  /// one is empty.
  Task<Signal> raise(NewSignal wanted, Along<Signal> along = {});
  /// Newest first.
  Task<std::vector<Signal>> list(SignalFilter filter = {});

private:
  Timestamp oldest() const { return clock_.now() - retention_; }

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  std::chrono::days retention_;
};

}  // namespace agw
