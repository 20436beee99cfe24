#include "server/idempotency.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "io/process/blocking.hpp"
#include "server/recorded_stream.hpp"

namespace agw {

namespace {

constexpr auto retention = std::chrono::hours{24};
constexpr auto min_claim_poll_interval = std::chrono::milliseconds{100};
constexpr auto max_claim_poll_interval = std::chrono::milliseconds{2000};
constexpr int still_answered = 503;

static_assert(min_claim_poll_interval <= max_claim_poll_interval);
static_assert(max_claim_poll_interval < retention);

/// Hashes a large body on another thread.
Task<std::string> hash_of(Request& request) {
  if (!request.workers) co_return to_hex(sha256(request.content));
  const auto content = std::make_shared<std::string>(std::move(request.content));
  auto hash = co_await request.workers->run([content] { return to_hex(sha256(*content)); });
  request.content = std::move(*content);
  co_return hash;
}

bool is_success(int status) { return status >= 200 && status < 300; }

/// Throws PayloadTooLarge; BadRequest if the client ends too early.
Task<std::string> read_all(ProxyStream& stream, std::size_t limit) {
  std::string content;
  for (;;) {
    const auto piece = co_await stream.read();
    if (!piece) throw BadRequest("the request ended too early");
    if (piece->empty()) co_return content;
    content += *piece;
    if (content.size() > limit) throw body_too_large();
  }
}

}  // namespace

class Idempotency::Turn {
public:
  Turn(Idempotency& owner, std::string name) : in_flight_(owner.in_flight_), name_(std::move(name)) {
    AGW_ASSERT(!in_flight_.contains(name_));
    in_flight_.emplace(name_, std::make_shared<AsyncEvent>(owner.loop_));
  }
  ~Turn() {
    AGW_ASSERT(in_flight_.contains(name_));
    auto node = in_flight_.extract(name_);
    node.mapped()->notify();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

private:
  InFlight& in_flight_;
  const std::string name_;
};

Task<> Idempotency::wait_for_duplicate(const std::string& name) {
  for (auto first = in_flight_.find(name); first != in_flight_.end(); first = in_flight_.find(name)) {
    const auto ended = first->second;
    co_await ended->wait();
  }
  AGW_ASSERT(!in_flight_.contains(name));
}

struct Idempotency::Found {
  std::optional<idempotency_store::StoredResponse> first;
  bool is_claimed_elsewhere = false;
};

Task<Idempotency::Found> Idempotency::find_or_claim(std::string path, std::string key) {
  const auto now = clock_.now();
  if (shared_ == Shared::no) {
    co_return Found{co_await database_.read([path, key, now](Connection& connection) {
      return idempotency_store::find(connection, path, key, now - retention);
    })};
  }
  co_return co_await database_.write([path, key, now](Connection& connection) {
    Found found{idempotency_store::find(connection, path, key, now - retention)};
    AGW_ASSERT(connection.in_transaction());  // two nodes do not both find nothing
    if (!found.first)
      found.is_claimed_elsewhere = !idempotency_store::claim(connection, path, key, now, now - retention);
    return found;
  });
}

Task<std::optional<idempotency_store::StoredResponse>> Idempotency::find(const std::string& path,
                                                                         const std::string& key,
                                                                         const std::string& hash) {
  auto found = co_await find_or_claim(path, key);
  const auto end = std::chrono::steady_clock::now() + patience_;
  auto wait = min_claim_poll_interval;
  for (StopSource never; found.is_claimed_elsewhere; wait = std::min(2 * wait, max_claim_poll_interval)) {
    if (std::chrono::steady_clock::now() > end)
      throw ApiError(still_answered, "another node still answers the first request with this key, try again");
    co_await pause(never, wait);
    const bool is_still_claimed =
        co_await database_.read([path, key, oldest = clock_.now() - retention](auto& connection) {
          return idempotency_store::is_claimed_elsewhere(connection, path, key, oldest);
        });
    if (!is_still_claimed) found = co_await find_or_claim(path, key);
  }
  AGW_ASSERT(!found.is_claimed_elsewhere);
  if (found.first && found.first->body_hash != hash) throw Conflict("idempotency key reused");
  co_return std::move(found.first);
}

std::function<void(Connection&, idempotency_store::StoredResponse)> Idempotency::storing(std::string path,
                                                                                         std::string key) const {
  return [path = std::move(path), key = std::move(key), now = clock_.now(), shared = shared_](
             Connection& connection, const idempotency_store::StoredResponse& response) {
    AGW_ASSERT(connection.in_transaction());
    AGW_ASSERT(!response.body_hash.empty());
    idempotency_store::store(connection, path, key, response, now, now - retention);
    if (shared == Shared::with_other_nodes) idempotency_store::release(connection, path, key);
  };
}

/// Lets another request try after a failure.
Task<> Idempotency::release(std::string path, std::string key) {
  if (shared_ == Shared::no) co_return;
  try {
    co_await database_.write(
        [path, key](Connection& connection) { idempotency_store::release(connection, path, key); });
  } catch (const std::exception& error) {
    log::warn("a repeated request to {} is answered by this node only: {}", path, error.what());
  }
}

Task<Response> Idempotency::once(Request& request, std::string key, const std::string& path, const Handle& handle) {
  AGW_ASSERT(!key.empty());
  AGW_ASSERT(!request.store_response);
  const auto name = path + '\n' + key;
  co_await wait_for_duplicate(name);
  const Turn turn(*this, name);
  const auto hash = co_await hash_of(request);
  const auto first = co_await find(path, key, hash);
  if (first) co_return Response{.status = first->status, .body = first->body};

  auto stored = std::make_shared<bool>(false);
  request.store_response = [stored, hash, store = storing(path, key)](Connection& connection, int status,
                                                                      const std::string& body) {
    store(connection, {hash, status, body});
    *stored = true;
  };
  Response response;
  std::exception_ptr failure;
  try {
    response = co_await handle(request);
    if (is_success(response.status) && !*stored) {
      co_await database_.write([store = request.store_response, status = response.status,
                                body = response.body](Connection& connection) { store(connection, status, body); });
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure || !*stored) co_await release(path, key);
  if (failure) std::rethrow_exception(failure);
  co_return response;
}

Task<> Idempotency::stream_once(Request& request, std::string key, const std::string& path, ProxyStream& stream,
                                std::size_t body_limit, const HandleStream& handle) {
  AGW_ASSERT(!key.empty());
  AGW_ASSERT(!request.store_response);
  request.content = co_await read_all(stream, body_limit);
  const auto name = path + '\n' + key;
  co_await wait_for_duplicate(name);
  const Turn turn(*this, name);
  const auto hash = co_await hash_of(request);
  const auto first = co_await find(path, key, hash);
  if (first) co_return co_await send_recorded(stream, *first);

  bool is_stored = false;
  // `recorded`, which alone calls it, keeps the closure and ends before what that refers to.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  const auto store = [&](idempotency_store::StoredResponse response) -> Task<> {
    response.body_hash = hash;
    co_await database_.write(
        [response, stores = storing(path, key)](Connection& connection) { stores(connection, response); });
    is_stored = true;
  };
  RecordedStream recorded(stream, std::move(request.content), store);
  std::exception_ptr failure;
  try {
    co_await handle(request, recorded);
  } catch (...) {
    failure = std::current_exception();
  }
  if (!is_stored) co_await release(path, key);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace agw
