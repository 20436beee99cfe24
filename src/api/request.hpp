#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"
#include "base/json/described.hpp"
#include "io/process/blocking.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Route;

enum class Method { get, post, put, patch, remove, any };

/// The method's name in HTTP: `GET`, …, `DELETE`; `*` for any.
std::string_view to_text(Method method);

/// A request for a handler: matched to a route, authorized, with its whole body. Handlers check in the specified order:
/// first the record that the path names, then `query`, then `body`, then records that the body names.
class Request {
public:
  Method method = Method::get;
  const Route* route = nullptr;
  bool head = false;                  ///< the method was HEAD: the response is sent without its body
  std::vector<std::string> segments;  ///< of the path, percent-decoded
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the query, decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;     ///< names in lower case
  std::string content;                                          ///< the body
  /// The body as JSON, nullopt if it is invalid. Null if it was not parsed in advance, as large bodies are.
  std::shared_ptr<std::optional<json::value>> parsed_content;
  /// The threads on which a large body is read; null if the body is small enough for the loop.
  BlockingPool* workers = nullptr;
  std::string_view scheme = "http://";  ///< or `https://`
  std::string host;                     ///< of the Host field, or the listening address
  /// Stores a response under this request's Idempotency-Key, in the current transaction of `connection`. Empty without
  /// a key.
  std::function<void(Connection& connection, int status, const std::string& body)> store_response;

  /// The segment for `:name` in the route's path.
  const std::string& path(std::string_view name) const;
  /// The segments for `*` at the end of the route's path.
  std::vector<std::string> rest() const;

  /// The origin that the client called: `http://127.0.0.1:7420`.
  std::string origin() const { return std::string(scheme) + host; }

  std::optional<std::string_view> header(std::string_view lower_case_name) const;
  /// A query parameter: the first one of that name, nullopt if it is missing or empty.
  std::optional<std::string_view> parameter(std::string_view name) const;

  /// The query as the described struct that the route declares. Throws BadRequest with the first problem.
  template <DescribedStruct T>
  T query() const {
    T value;
    fill_query(describe(Tag<T>{}), &value);
    return value;
  }

  /// The body as the described struct that the route declares. Throws BadRequest: `Request body required`, `Invalid
  /// JSON`, `Request body must be an object`, or the first problem.
  template <DescribedStruct T>
  T body() {
    T value;
    fill_body(describe(Tag<T>{}), &value);
    return value;
  }

  /// The same, but an empty body counts as `{}`.
  template <DescribedStruct T>
  T optional_body() {
    T value;
    if (!content.empty()) fill_body(describe(Tag<T>{}), &value);
    return value;
  }

  /// The body as any JSON object. Throws as `body` does.
  json::object body_object();

  /// What `read` makes of the body as an object, where a large body would block the loop: on another thread. `read`
  /// owns what it uses. Throws as `body` does, and what `read` throws. Example:
  /// src/features/extensions/routes_test.cpp: ExtensionRoutes.ReadALargeBodyOffTheLoop
  template <class Read>
  auto read_body(Read read) -> Task<std::invoke_result_t<Read&, json::object>> {
    if (!workers) co_return read(body_object());
    co_return co_await workers->run(
        [read = std::move(read), body = body_object()]() mutable { return read(std::move(body)); });
  }

  /// For the write of the record that is the response: stores the response under the Idempotency-Key in the same
  /// transaction, so that a retry after a crash finds either both or neither.
  template <DescribedStruct T>
  InTransaction<T> in_transaction() const {
    if (!store_response) return {};
    return [store = store_response, status = success_status()](Connection& connection, const T& record) {
      store(connection, status, to_json(record));
    };
  }

  /// A response of a described struct, or a list of them, as JSON, with the route's status for success.
  template <class T>
  Response respond(const T& value) const {
    return respond_with(success_status(), value);
  }

  /// The same for what a large body has become, which is written on another thread.
  template <class T>
  Task<Response> respond_to_large(T value) const {
    const auto write = [status = success_status(), value = std::move(value)] { return respond_with(status, value); };
    if (workers) co_return co_await workers->run(write);
    co_return write();
  }

private:
  template <class T>
  static Response respond_with(int status, const T& value) {
    Response response{.status = status};
    response.body.reserve(512);  // Enough for most records, so that the text is not moved as it grows.
    write_json(response.body, value);
    return response;
  }
  int success_status() const;
  void fill_query(const Description& description, void* value) const;
  void fill_body(const Description& description, void* value);
};

}  // namespace agw
