#include "server/dispatch.hpp"

#include <memory>
#include <string>
#include <utility>

#include "api/error.hpp"
#include "api/route.hpp"
#include "base/async/assert.hpp"
#include "storage/connection.hpp"

namespace agw {

namespace {

constexpr std::size_t large_body = 64 * 1024;  // bytes: may contain so many values that parsing would block the loop
constexpr std::size_t max_idempotency_key_length = 255;

/// Empty if the response must not be stored. Open routes never store theirs: the response of a pairing is the token.
std::string idempotency_key(const Request& request) {
  if (request.method != Method::post || request.route->open) return {};
  const auto key = request.header("idempotency-key").value_or("");
  if (key.size() > max_idempotency_key_length) throw BadRequest("Idempotency-Key must be at most 255 characters");
  return std::string(key);
}

/// Parses the body outside the loop. The parsed value is destroyed there too.
Task<> parse_body(Request& request, BlockingPool& blocking) {
  AGW_ASSERT(!request.parsed_content);
  const auto content = std::make_shared<std::string>(std::move(request.content));
  auto read = co_await blocking.run([content] { return parse_json(*content); });
  request.content = std::move(*content);
  request.workers = &blocking;
  request.parsed_content = {new std::optional(std::move(read)), [&blocking](auto* value) {
                              blocking.destroy(std::unique_ptr<std::optional<json::value>>(value));
                            }};
}

/// Handles the request on this node.
Task<Response> handle(Request& request, const Target& target, Idempotency& idempotency, BlockingPool& blocking) {
  const auto& route = *request.route;
  const auto key = idempotency_key(request);
  if (request.content.size() > large_body && takes_json(route)) co_await parse_body(request, blocking);
  if (key.empty()) co_return co_await route.handler(request);
  co_return co_await idempotency.once(request, key, std::string(target.path), route.handler);
}

Task<Response> handle_by_any(Request& request, const Target& target, Idempotency& idempotency, BlockingPool& blocking,
                             OtherNodes& others) {
  const std::string path(target.path);
  if (auto response = co_await others.answer(request, path)) co_return *std::move(response);
  std::exception_ptr taken;
  try {
    co_return co_await handle(request, target, idempotency, blocking);
  } catch (const ThreadElsewhere&) {
    taken = std::current_exception();  // another node has started the run in the meantime
  }
  if (auto response = co_await others.answer(request, path)) co_return *std::move(response);
  std::rethrow_exception(taken);
}

}  // namespace

Task<Response> dispatch(Request& request, const Target& target, Idempotency& idempotency, BlockingPool& blocking,
                        OtherNodes* others) {
  check_target(target);
  const auto& route = *request.route;
  AGW_ASSERT(route.handler);
  if (route.authorize) route.authorize(request);
  if (others && route.about != About::nothing) return handle_by_any(request, target, idempotency, blocking, *others);
  return handle(request, target, idempotency, blocking);
}

Task<> dispatch_stream(Request& request, const Target& target, ProxyStream& stream, Idempotency& idempotency,
                       std::size_t body_limit) {
  const auto& route = *request.route;
  if (route.forwards)
    check_path(target);  // the query is for the receiver to judge
  else
    check_target(target);
  AGW_ASSERT(route.stream);
  AGW_ASSERT(request.content.empty());  // the handler reads it
  if (route.authorize) route.authorize(request);
  const auto key = route.repeatable ? idempotency_key(request) : std::string();
  if (key.empty()) co_return co_await route.stream(request, stream);
  co_await idempotency.stream_once(request, key, std::string(target.path), stream, body_limit, route.stream);
}

}  // namespace agw
