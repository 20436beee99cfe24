#include "server/idempotency.hpp"

#include "api/idempotency_store.hpp"
#include "base/sha256.hpp"

namespace agw {

namespace {

constexpr auto retention = std::chrono::hours{24};

}  // namespace

Task<> Idempotency::wait_for_duplicate(const std::string& name) {
  for (auto first = in_flight_.find(name); first != in_flight_.end(); first = in_flight_.find(name)) {
    const auto ended = first->second;
    co_await ended->wait();
  }
}

Task<Response> Idempotency::once(Request& request, std::string key, const std::string& path, const Handle& handle) {
  const auto name = path + '\n' + key;
  co_await wait_for_duplicate(name);

  in_flight_.emplace(name, std::make_shared<AsyncEvent>(loop_));
  struct Scope {
    InFlight& in_flight;
    const std::string& name;
    ~Scope() {
      auto node = in_flight.extract(name);
      node.mapped()->notify();
    }
  } scope{in_flight_, name};

  const auto hash = to_hex(sha256(request.content));
  const auto now = clock_.now();
  const auto first = co_await database_.read([path, key, oldest = now - retention](Connection& connection) {
    return idempotency_store::find(connection, path, key, oldest);
  });
  if (first && first->body_hash != hash) throw Conflict("idempotency key reused");
  if (first) co_return Response{.status = first->status, .body = first->body};

  auto stored = std::make_shared<bool>(false);
  request.store_response = [=](Connection& connection, int status, const std::string& body) {
    idempotency_store::store(connection, path, key, {hash, status, body}, now, now - retention);
    *stored = true;
  };
  auto response = co_await handle(request);
  const bool success = response.status >= 200 && response.status < 300;
  if (success && !*stored) {
    co_await database_.write([store = request.store_response, status = response.status,
                              body = response.body](Connection& connection) { store(connection, status, body); });
  }
  co_return response;
}

}  // namespace agw
