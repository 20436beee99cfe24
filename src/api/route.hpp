#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/answer.hpp"
#include "api/exchange.hpp"
#include "api/request.hpp"
#include "base/task.hpp"

namespace agw {

using Handler = std::function<Task<Answer>(Request&)>;
using HandlerAtOnce = std::function<Answer(const Request&)>;

/// What calling a route does, for people and agents that decide whether to call it.
enum class Effect { read, write, execute };

/// One endpoint, declared once: routing, 405, HEAD, authorisation, limits and the documents come from it. A room's
/// routes.cpp is a table of these:
///
///     return {
///         get("/threads", "List threads", this, &ThreadRoutes::list).answers<std::vector<Thread>>(),
///         post("/threads", "Create a thread", this, &ThreadRoutes::create).body<NewThread>().answers<Thread>(201),
///         remove("/turns/:id", "Delete a turn", this, &ThreadRoutes::erase).answers_nothing(),
///     };
struct Route {
  Method method = Method::get;
  std::string path;     ///< `/threads/:id/turns`; `:name` is one segment, a last `*` all that follow
  std::string summary;  ///< a few words for the documents
  Handler handler;
  HandlerAtOnce at_once;  ///< the same, where the answer needs no waiting and changes nothing; else empty
  /// Instead of `handler`: the route takes any body and WebSockets, and is no part of the API.
  ExchangeHandler exchange;
  Effect effect = Effect::read;
  bool open = false;           ///< needs no bearer token
  bool pairing = false;        ///< answers 501 where the gateway runs without a token
  bool raw_body = false;       ///< the body is bytes, not JSON
  std::size_t body_limit = 0;  ///< bytes, 0 for the general limit of the configuration
  int status = 200;            ///< of success
  const Description* query_type = nullptr;
  const Description* body_type = nullptr;
  bool free_body = false;  ///< the body is a JSON object whose members the route leaves open
  bool body_required = false;
  std::function<json::object()> answer_schema;  ///< empty where the answer is no JSON
  const Description* answer_type = nullptr;     ///< of the answer, or of each element of a list; null for free JSON
  bool answers_list = false;
  /// What is answered instead of reading the body, nothing to go on. Empty for none.
  std::function<std::optional<ApiError>()> refusal;
  /// Throws Unauthorized where the request lacks what the route wants beside the token, before an answer that was kept
  /// for its Idempotency-Key is looked for. Empty for none.
  std::function<void(const Request&)> demand;
  std::optional<json::object> example;  ///< a body that succeeds on an empty gateway
  std::vector<int> errors;              ///< statuses beside the general ones
  Fields fields;                        ///< that every answer at this path carries, refusals too
  bool documented = true;               ///< stands in the documents of the API

  template <DescribedStruct T>
  Route query() && {
    query_type = &describe(Tag<T>{});
    return std::move(*this);
  }
  template <DescribedStruct T>
  Route body() && {
    body_type = &describe(Tag<T>{});
    body_required = true;
    return std::move(*this);
  }
  template <DescribedStruct T>
  Route optional_body() && {
    body_type = &describe(Tag<T>{});
    return std::move(*this);
  }
  Route any_object() && {
    free_body = true;
    body_required = true;
    return std::move(*this);
  }
  Route optional_object() && {
    free_body = true;
    return std::move(*this);
  }
  template <class T>
  Route answers(int success = 200) && {
    status = success;
    answer_schema = [] { return schema_of_answer(Tag<T>{}); };
    answer_type = type_of_answer(Tag<T>{});
    answers_list = is_list(Tag<T>{});
    return std::move(*this);
  }
  Route answers_nothing() && {
    status = 204;
    return std::move(*this);
  }
  Route executes() && {
    effect = Effect::execute;
    return std::move(*this);
  }
  Route needs_no_token() && {
    open = true;
    return std::move(*this);
  }
  Route takes_part_in_pairing() && {
    pairing = true;
    return std::move(*this);
  }
  Route takes_bytes(std::size_t limit) && {
    raw_body = true;
    body_limit = limit;
    return std::move(*this);
  }
  Route limits_body(std::size_t bytes) && {
    body_limit = bytes;
    return std::move(*this);
  }
  Route refuses_when(std::function<std::optional<ApiError>()> asked) && {
    refusal = std::move(asked);
    return std::move(*this);
  }
  Route demands(std::function<void(const Request&)> checked) && {
    demand = std::move(checked);
    return std::move(*this);
  }
  Route carries(Fields on_every_answer) && {
    fields = std::move(on_every_answer);
    return std::move(*this);
  }
  /// For files and the like: it stands in no document.
  Route is_no_api() && {
    documented = false;
    return std::move(*this);
  }
  Route like(json::object body) && {
    example = std::move(body);
    return std::move(*this);
  }
  Route fails_with(std::vector<int> statuses) && {
    errors = std::move(statuses);
    return std::move(*this);
  }

private:
  template <class T>
  static json::object schema_of_answer(Tag<T>) {
    return schema_of(describe(Tag<T>{}), Direction::answer);
  }
  template <class T>
  static json::object schema_of_answer(Tag<std::vector<T>>) {
    return {{"type", "array"}, {"items", schema_of_answer(Tag<T>{})}};
  }
  static json::object schema_of_answer(Tag<json::object>) { return {{"type", "object"}}; }
  template <class T>
  static const Description* type_of_answer(Tag<T>) {
    return &describe(Tag<T>{});
  }
  template <class T>
  static const Description* type_of_answer(Tag<std::vector<T>>) {
    return type_of_answer(Tag<T>{});
  }
  static const Description* type_of_answer(Tag<json::object>) { return nullptr; }
  template <class T>
  static constexpr bool is_list(Tag<T>) {
    return false;
  }
  template <class T>
  static constexpr bool is_list(Tag<std::vector<T>>) {
    return true;
  }
};

using Routes = std::vector<Route>;

/// Whether the route reads a JSON body.
inline bool takes_json(const Route& route) { return route.body_type || route.free_body; }
/// The schema of a JSON body, where the route takes one.
inline json::object body_schema(const Route& route) {
  if (!route.body_type) return {{"type", "object"}};
  return schema_of(*route.body_type, Direction::request);
}

template <class Room>
Route route(Method method, std::string path, std::string summary, Room* room, Task<Answer> (Room::*handler)(Request&)) {
  Route made;
  made.method = method;
  made.path = std::move(path);
  made.summary = std::move(summary);
  made.handler = [room, handler](Request& request) { return (room->*handler)(request); };
  made.effect = method == Method::get ? Effect::read : Effect::write;
  return made;
}
template <class Room>
Route get(std::string path, std::string summary, Room* room, Task<Answer> (Room::*handler)(Request&)) {
  return route(Method::get, std::move(path), std::move(summary), room, handler);
}
/// Of a handler that has its answer in memory, and so need not be a coroutine.
template <class Room>
Route get(std::string path, std::string summary, Room* room, Answer (Room::*handler)(const Request&)) {
  Route made{.path = std::move(path), .summary = std::move(summary)};
  made.at_once = [room, handler](const Request& request) { return (room->*handler)(request); };
  // The lambda lives as long as the route, which outlives its requests.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  made.handler = [at_once = made.at_once](Request& request) -> Task<Answer> { co_return at_once(request); };
  return made;
}
template <class Room>
Route post(std::string path, std::string summary, Room* room, Task<Answer> (Room::*handler)(Request&)) {
  return route(Method::post, std::move(path), std::move(summary), room, handler);
}
template <class Room>
Route put(std::string path, std::string summary, Room* room, Task<Answer> (Room::*handler)(Request&)) {
  return route(Method::put, std::move(path), std::move(summary), room, handler);
}
template <class Room>
Route patch(std::string path, std::string summary, Room* room, Task<Answer> (Room::*handler)(Request&)) {
  return route(Method::patch, std::move(path), std::move(summary), room, handler);
}
template <class Room>
Route remove(std::string path, std::string summary, Room* room, Task<Answer> (Room::*handler)(Request&)) {
  return route(Method::remove, std::move(path), std::move(summary), room, handler);
}

/// For any method, body and answer, WebSockets too.
template <class Room>
Route pass_on_any(std::string path, std::string summary, Room* room, Task<> (Room::*handler)(Request&, Exchange&)) {
  Route made{.method = Method::any, .path = std::move(path), .summary = std::move(summary), .effect = Effect::execute};
  made.exchange = [room, handler](Request& request, Exchange& exchange) { return (room->*handler)(request, exchange); };
  made.documented = false;
  return made;
}

}  // namespace agw
