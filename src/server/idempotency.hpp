#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "api/answer.hpp"
#include "api/request.hpp"
#include "base/task.hpp"
#include "base/time.hpp"
#include "storage/database.hpp"

namespace agw {

/// Makes a POST with an `Idempotency-Key` happen once: the same key and body to the same path within 24 hours gets the
/// first answer again, also after a restart. Only successes (2xx) are kept.
class Idempotency {
public:
  Idempotency(Loop& loop, Database& database, const Clock& clock) : loop_(loop), database_(database), clock_(clock) {}

  using Handle = std::function<Task<Answer>(Request&)>;

  /// Answers `request`, by `handle` if it is the first with its `key`. Twins wait for the first. Throws Conflict
  /// `idempotency key reused` for another body.
  Task<Answer> once(Request& request, std::string key, const std::string& path, const Handle& handle);

private:
  /// A first request under way, and those that wait for its end.
  struct Flight {
    explicit Flight(Loop& loop) : landed(loop, asio::steady_timer::time_point::max()) {}
    asio::steady_timer landed;
  };
  using Flights = std::map<std::string, std::shared_ptr<Flight>>;

  Task<> wait_for_twin(const std::string& name);

  Loop& loop_;
  Database& database_;
  const Clock& clock_;
  Flights flights_;
};

}  // namespace agw
