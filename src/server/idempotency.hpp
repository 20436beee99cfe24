#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/async_event.hpp"
#include "base/time/time.hpp"
#include "storage/database.hpp"

namespace agw {

/// Makes a POST with an `Idempotency-Key` take effect once: the same key and body to the same path within 24 hours gets
/// the first response again, even after a restart. Only successes (2xx) are stored.
class Idempotency {
public:
  Idempotency(Loop& loop, Database& database, const Clock& clock) : loop_(loop), database_(database), clock_(clock) {}

  using Handle = std::function<Task<Response>(Request&)>;

  /// Returns the stored response for `key`, or calls `handle` if the request is the first; duplicates wait for it.
  /// Throws Conflict `idempotency key reused` for another body.
  Task<Response> once(Request& request, std::string key, const std::string& path, const Handle& handle);

private:
  /// By path and key: notified when the first request has ended.
  using InFlight = std::map<std::string, std::shared_ptr<AsyncEvent>>;

  Task<> wait_for_duplicate(const std::string& name);

  Loop& loop_;
  Database& database_;
  const Clock& clock_;
  InFlight in_flight_;
};

}  // namespace agw
