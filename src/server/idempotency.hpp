#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/idempotency_store.hpp"
#include "api/proxy_stream.hpp"
#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/async_event.hpp"
#include "base/time/time.hpp"
#include "storage/database.hpp"

namespace agw {

/// Makes a POST with an `Idempotency-Key` take effect once: a repeated key and body for the same path within 24 hours
/// returns the first response, even after a restart. Only successes (2xx) are stored.
class Idempotency {
public:
  enum class Shared { no, with_other_nodes };
  /// `patience`: how long a repeated request waits for another node.
  Idempotency(Loop& loop, Database& database, const Clock& clock, Shared shared = Shared::no,
              std::chrono::milliseconds patience = std::chrono::minutes{10})
      : loop_(loop), database_(database), clock_(clock), shared_(shared), patience_(patience) {}

  using Handle = std::function<Task<Response>(Request&)>;

  /// Returns the stored response for `key`, or calls `handle` if the request is the first. Duplicates wait for its
  /// response, on other nodes for `patience` at most. Throws Conflict `idempotency key reused` for another body.
  /// Example: src/server/idempotency_test.cpp: IdempotencyTest.ARepeatedRequestWaitsForAnotherNodeForATime
  Task<Response> once(Request& request, std::string key, const std::string& path, const Handle& handle);

  using HandleStream = std::function<Task<>(Request&, ProxyStream&)>;

  /// The same for a streamed response: sends the stored one, or calls `handle` and stores its response if that is
  /// complete and at most 8 MiB. Reads the body first; throws PayloadTooLarge above `body_limit`.
  Task<> stream_once(Request& request, std::string key, const std::string& path, ProxyStream& stream,
                     std::size_t body_limit, const HandleStream& handle);

private:
  /// By path and key; each event is notified when the first request has ended.
  using InFlight = std::map<std::string, std::shared_ptr<AsyncEvent>>;

  /// Reserves a name from the first request to its end.
  class Turn;

  Task<> wait_for_duplicate(const std::string& name);
  /// The first response. If nullopt, this request owns the key until `store` or `release`.
  Task<std::optional<idempotency_store::StoredResponse>> find(const std::string& path, const std::string& key,
                                                              const std::string& hash);
  struct Found;
  Task<Found> find_or_claim(std::string path, std::string key);
  std::function<void(Connection&, idempotency_store::StoredResponse)> storing(std::string path, std::string key) const;
  Task<> release(std::string path, std::string key);

  Loop& loop_;
  Database& database_;
  const Clock& clock_;
  const Shared shared_;
  const std::chrono::milliseconds patience_;
  InFlight in_flight_;
};

}  // namespace agw
