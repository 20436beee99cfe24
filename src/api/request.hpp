#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "api/response.hpp"
#include "base/json/described.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

class BlockingPool;
struct Route;

enum class Method { get, post, put, patch, remove, any };

/// The method's name in HTTP: `GET`, …, `DELETE`; `*` for any.
std::string_view to_text(Method method);

/// A request for a handler: matched to a route, authorized, with its complete body. Handlers check in the order of the
/// specification: first the record named in the path, then `query`, then `body`, then records named in the body.
class Request {
public:
  Method method = Method::get;
  const Route* route = nullptr;
  bool head = false;                  ///< the method was HEAD: only the head of the response is sent
  std::vector<std::string> segments;  ///< of the path, percent-decoded
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the query, decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;     ///< names in lower case
  std::string content;                                          ///< the body
  /// The body as JSON, nullopt if it is invalid. Null unless it was parsed in advance, as large bodies are.
  std::shared_ptr<std::optional<json::value>> parsed_content;
  /// The threads that read a large body; null if the body is small enough for the loop.
  BlockingPool* workers = nullptr;
  std::string_view scheme = "http://";  ///< or `https://`
  std::string host;                     ///< of the Host field, or the listening address
  /// Stores a response under this request's Idempotency-Key in the current transaction of `connection`. Empty function
  /// without a key.
  std::function<void(Connection& connection, int status, const std::string& body)> store_response;

  /// The segment for `:name` in the route's path.
  const std::string& path(std::string_view name) const;
  /// The segments for `*` at the end of the route's path.
  std::vector<std::string> rest() const;

  /// The origin that the client called: `http://127.0.0.1:7420`.
  std::string origin() const { return std::string(scheme) + host; }

  std::optional<std::string_view> header(std::string_view lower_case_name) const;
  /// The first query parameter of that name; nullopt if it is missing or empty.
  std::optional<std::string_view> parameter(std::string_view name) const;

  /// The query as the described struct declared by the route. Throws BadRequest with the first problem.
  template <DescribedStruct T>
  T query() const {
    T value;
    fill_query(describe(Tag<T>{}), &value);
    return value;
  }

  /// The body as the described struct declared by the route. Throws BadRequest: `Request body required`, `Invalid
  /// JSON`, `Request body must be an object`, or the first problem.
  template <DescribedStruct T>
  T body() {
    T value;
    fill_body(describe(Tag<T>{}), &value);
    return value;
  }

  /// Like `body`, but an empty body counts as `{}`.
  template <DescribedStruct T>
  T optional_body() {
    T value;
    if (!content.empty()) fill_body(describe(Tag<T>{}), &value);
    return value;
  }

  /// The body as a JSON object with any members. Throws as `body` does.
  json::object body_object();

  /// For the write of a record that is also the response: stores the response under the Idempotency-Key in the same
  /// transaction, so that a retry after a crash finds both or neither.
  template <DescribedStruct T>
  InTransaction<T> in_transaction() const {
    if (!store_response) return {};
    return [store = store_response, status = success_status()](Connection& connection, const T& record) {
      store(connection, status, to_json(record));
    };
  }

  /// A response with a described struct, or a list of them, as JSON, and the route's success status.
  template <class T>
  Response respond(const T& value) const {
    Response response{.status = success_status()};
    response.body.reserve(512);  // enough for most records, to avoid reallocation
    write_json(response.body, value);
    return response;
  }

private:
  int success_status() const;
  void fill_query(const Description& description, void* value) const;
  void fill_body(const Description& description, void* value);
};

}  // namespace agw
