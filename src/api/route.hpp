#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/message_socket.hpp"
#include "api/other_nodes.hpp"
#include "api/proxy_stream.hpp"
#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"

namespace agw {

using Handler = std::function<Task<Response>(Request&)>;
using InlineHandler = std::function<Response(const Request&)>;

/// The effect of calling the route, for people and agents who decide about the call.
enum class Effect { read, write, execute };

/// One endpoint, declared once: routing, 405, HEAD, authorization, limits and the API documents follow from it. A
/// room's routes.cpp has a table of routes:
///
///     return {
///         get("/threads", "List threads", list_threads, threads).responds<std::vector<Thread>>(),
///         post("/threads", "Create a thread", create_thread, threads).body<NewThread>().responds<Thread>(201),
///         remove("/turns/:id", "Delete a turn", delete_turn, threads).responds_no_content(),
///     };
/// Example: src/features/extensions/routes_test.cpp: ExtensionRoutes.AnswerWithTheRecord
struct Route {
  Method method = Method::get;
  std::string path;     ///< `/threads/:id/turns`; `:name` matches one segment, `*` at the end all remaining ones
  std::string summary;  ///< a few words for the documents
  Handler handler;
  InlineHandler inline_handler;  ///< without a coroutine; empty if the handler waits or changes something
  /// Replaces `handler`: reads the body and streams the response.
  ProxyHandler stream;
  bool forwards = false;    ///< `stream` accepts a body of any length, and WebSockets
  bool repeatable = false;  ///< the response of `stream` is stored for requests with the same Idempotency-Key
  SocketHandler socket;     ///< serves the WebSocket that clients can open at the path; may be empty
  Effect effect = Effect::read;
  bool begins_run = false;     ///< refused by a draining node
  bool open = false;           ///< needs no bearer token
  bool pairing = false;        ///< returns 501 if the gateway has no token
  bool raw_body = false;       ///< the body is bytes, not JSON
  std::size_t body_limit = 0;  ///< bytes; 0 means the configured limit
  int status = 200;            ///< of a success
  const Description* query_type = nullptr;
  const Description* body_type = nullptr;
  bool free_body = false;  ///< the body is a JSON object with any members
  bool body_required = false;
  std::function<json::object()> response_schema;  ///< empty if the response is not JSON
  const Description* response_type = nullptr;  ///< the type of the response or of its list elements; null for any JSON
  bool responds_with_list = false;
  bool responds_with_bytes = false;  ///< of any type; beside a schema, only if the query asks for them
  /// Returns an error if the request is refused without reading the body. May be empty.
  std::function<std::optional<ApiError>()> refusal;
  /// Throws Unauthorized if the request lacks credentials required in addition to the token. Called before the lookup
  /// of a response stored for an Idempotency-Key. May be empty.
  std::function<void(const Request&)> authorize;
  std::optional<json::object> example;  ///< a body that succeeds on an empty gateway
  std::vector<int> errors;              ///< statuses in addition to the common ones
  Fields fields;                        ///< headers of all responses at this path, including errors
  About about = About::nothing;         ///< determines which node of a cluster handles a request
  bool documented = true;               ///< whether it is in the API documents

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
  Route responds(int success = 200) && {
    status = success;
    response_schema = [] { return response_schema_of(Tag<T>{}); };
    response_type = response_type_of(Tag<T>{});
    responds_with_list = is_list(Tag<T>{});
    return std::move(*this);
  }
  Route may_respond_with_bytes() && {
    responds_with_bytes = true;
    return std::move(*this);
  }
  Route responds_no_content() && {
    status = 204;
    return std::move(*this);
  }
  Route executes() && {
    effect = Effect::execute;
    return std::move(*this);
  }
  /// A success starts a run, or other work that continues after the response.
  Route begins_a_run() && {
    begins_run = true;
    return std::move(*this).executes();
  }
  Route needs_no_token() && {
    open = true;
    return std::move(*this);
  }
  Route for_pairing() && {
    pairing = true;
    return std::move(*this);
  }
  Route raw_body_up_to(std::size_t limit) && {
    raw_body = true;
    body_limit = limit;
    return std::move(*this);
  }
  Route limits_body(std::size_t bytes) && {
    body_limit = bytes;
    return std::move(*this);
  }
  Route refuses_when(std::function<std::optional<ApiError>()> condition) && {
    refusal = std::move(condition);
    return std::move(*this);
  }
  Route authorized_by(std::function<void(const Request&)> check) && {
    authorize = std::move(check);
    return std::move(*this);
  }
  Route with_headers(Fields on_every_response) && {
    fields = std::move(on_every_response);
    return std::move(*this);
  }
  /// In a cluster, the node that has the run of this record handles the request.
  Route is_about(About what) && {
    about = what;
    return std::move(*this);
  }
  Route is_repeatable() && {
    repeatable = true;
    return std::move(*this);
  }
  /// Clients can also open a WebSocket at the path; the handler is called as `handler(rooms..., request, socket)`.
  template <class SocketFunction, class... Room>
  Route opens_socket(SocketFunction function, Room&... rooms) && {
    socket = [function, &rooms...](Request& request, MessageSocket& messages) {
      return std::invoke(function, rooms..., request, messages);
    };
    return std::move(*this);
  }
  /// Excludes the route from the API documents, for example because it serves files.
  Route undocumented() && {
    documented = false;
    return std::move(*this);
  }
  Route with_example(json::object body) && {
    example = std::move(body);
    return std::move(*this);
  }
  Route fails_with(std::vector<int> statuses) && {
    errors = std::move(statuses);
    return std::move(*this);
  }

private:
  template <class T>
  static json::object response_schema_of(Tag<T>) {
    return schema_of(describe(Tag<T>{}), Direction::response);
  }
  template <class T>
  static json::object response_schema_of(Tag<std::vector<T>>) {
    return {{"type", "array"}, {"items", response_schema_of(Tag<T>{})}};
  }
  static json::object response_schema_of(Tag<json::object>) { return {{"type", "object"}}; }
  template <class T>
  static const Description* response_type_of(Tag<T>) {
    return &describe(Tag<T>{});
  }
  template <class T>
  static const Description* response_type_of(Tag<std::vector<T>>) {
    return response_type_of(Tag<T>{});
  }
  static const Description* response_type_of(Tag<json::object>) { return nullptr; }
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
/// The schema of the route's JSON body.
inline json::object body_schema(const Route& route) {
  if (!route.body_type) return {{"type", "object"}};
  return schema_of(*route.body_type, Direction::request);
}

/// A route whose handler is called as `handler(rooms..., request)`, or as a member function of the only room. The
/// handler returns `Task<Response>`, or `Response` if it never waits and changes nothing (GET only). The rooms must
/// outlive the route.
template <class Handler, class... Room>
Route route(Method method, std::string path, std::string summary, Handler handler, Room&... rooms) {
  Route made{.method = method, .path = std::move(path), .summary = std::move(summary)};
  made.handler = [handler, &rooms...](Request& request) { return std::invoke(handler, rooms..., request); };
  made.effect = method == Method::get ? Effect::read : Effect::write;
  return made;
}

template <class Handler, class... Room>
Route get(std::string path, std::string summary, Handler handler, Room&... rooms) {
  if constexpr (std::is_same_v<std::invoke_result_t<Handler, Room&..., Request&>, Response>) {
    Route made{.path = std::move(path), .summary = std::move(summary)};
    made.inline_handler = [handler, &rooms...](const Request& request) {
      return std::invoke(handler, rooms..., request);
    };
    // The lambda lives as long as the route, which outlives its requests.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
    made.handler = [inline_handler = made.inline_handler](Request& request) -> Task<Response> {
      co_return inline_handler(request);
    };
    return made;
  } else {
    return route(Method::get, std::move(path), std::move(summary), handler, rooms...);
  }
}

template <class Handler, class... Room>
Route post(std::string path, std::string summary, Handler handler, Room&... rooms) {
  return route(Method::post, std::move(path), std::move(summary), handler, rooms...);
}

template <class Handler, class... Room>
Route put(std::string path, std::string summary, Handler handler, Room&... rooms) {
  return route(Method::put, std::move(path), std::move(summary), handler, rooms...);
}

template <class Handler, class... Room>
Route patch(std::string path, std::string summary, Handler handler, Room&... rooms) {
  return route(Method::patch, std::move(path), std::move(summary), handler, rooms...);
}

template <class Handler, class... Room>
Route remove(std::string path, std::string summary, Handler handler, Room&... rooms) {
  return route(Method::remove, std::move(path), std::move(summary), handler, rooms...);
}

/// A route for any method and body, including WebSockets; the handler is called as `handler(rooms..., request,
/// stream)`.
template <class Handler, class... Room>
Route proxy(std::string path, std::string summary, Handler handler, Room&... rooms) {
  Route made{.method = Method::any, .path = std::move(path), .summary = std::move(summary), .effect = Effect::execute};
  made.stream = [handler, &rooms...](Request& request, ProxyStream& stream) {
    return std::invoke(handler, rooms..., request, stream);
  };
  made.forwards = true;
  made.documented = false;
  return made;
}

/// A path that only serves a WebSocket; the handler is called as `handler(rooms..., request, socket)`.
template <class Handler, class... Room>
Route web_socket(std::string path, std::string summary, Handler handler, Room&... rooms) {
  constexpr auto refuse = [](const Request&) -> Response { throw ApiError(426, "open a WebSocket at this path"); };
  return get(std::move(path), std::move(summary), refuse).undocumented().opens_socket(handler, rooms...);
}

/// A POST route with a streamed response; the handler is called as `handler(rooms..., request, stream)`.
template <class Handler, class... Room>
Route post_stream(std::string path, std::string summary, Handler handler, Room&... rooms) {
  Route made{.method = Method::post, .path = std::move(path), .summary = std::move(summary), .effect = Effect::execute};
  made.stream = [handler, &rooms...](Request& request, ProxyStream& stream) {
    return std::invoke(handler, rooms..., request, stream);
  };
  return made;
}

}  // namespace agw
