#pragma once

#include <chrono>
#include <vector>

#include "base/async/task.hpp"
#include "features/signals/types.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Route;
class Database;
class Hub;

/// Signals: reports of features and clients that need a person's attention.
/// Example: src/features/signals/service_test.cpp: SignalsTest.AccompanyingWritesAreInTheSameTransaction
class Signals {
public:
  /// Signals are kept for `retention`.
  Signals(Database& database, Hub& hub, const Clock& clock, std::chrono::days retention);

  /// Stores the signal and publishes it as `signal`. Throws BadRequest `kind is required` or `message is required` if
  /// one is empty.
  Task<Signal> raise(NewSignal wanted, InTransaction<Signal> in_transaction = {});
  /// Newest first.
  Task<std::vector<Signal>> list(SignalFilter filter = {});

private:
  Timestamp oldest() const { return clock_.now() - retention_; }

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  std::chrono::days retention_;
};

/// `/signals`.
std::vector<Route> signal_routes(Signals& signals);

}  // namespace agw
