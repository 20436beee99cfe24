#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "base/described.hpp"
#include "storage/along.hpp"

namespace agw {

struct Route;

enum class Method { get, post, put, patch, remove, any };

/// The method as HTTP writes it: `GET`, …, `DELETE`; `*` for any.
std::string_view to_text(Method method);

/// A request as its handler sees it: matched to a route, authorised, its body read whole. A handler asks in the decided
/// order of checks: the record of the path first, then `query`, then `body`, then records that the body names.
class Request {
public:
  Method method = Method::get;
  const Route* route = nullptr;
  bool head = false;                                            ///< a GET's answer is wanted without its body
  std::vector<std::string> segments;                            ///< of the path, percent-decoded
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the query, decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;     ///< names in lower case
  std::string content;                                          ///< the body's bytes
  /// What they say as JSON, nothing where they are none. Null where nobody has read them yet, as few do beforehand.
  std::shared_ptr<std::optional<json::value>> read_content;
  std::string_view scheme = "http://";  ///< or `https://`
  std::string host;                     ///< it was addressed to
  /// Keeps an answer (status, body) with the Idempotency-Key of this request, within the transaction of `connection`.
  /// Empty without a key.
  std::function<void(Connection& connection, int status, const std::string& body)> keep_answer;

  /// The segment that stands for `:name` in the route's path.
  const std::string& path(std::string_view name) const;
  /// What `*` at the end of the route's path stands for: the remaining segments.
  std::vector<std::string> rest() const;

  /// Where it came to: `http://127.0.0.1:7420`.
  std::string origin() const { return std::string(scheme) + host; }

  std::optional<std::string_view> header(std::string_view lower_case_name) const;
  /// A query parameter; the first of doubles, nothing for a missing or empty one.
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

  /// The same where no member is required: an empty body counts as `{}`.
  template <DescribedStruct T>
  T optional_body() {
    T value;
    if (!content.empty()) fill_body(describe(Tag<T>{}), &value);
    return value;
  }

  /// The body as a JSON object, unchecked beyond that.
  json::object body_object();

  /// For a service's write that makes the record which is the answer: stores that answer with the Idempotency-Key in
  /// the record's own transaction, so that a repetition after a crash finds either both or neither.
  template <DescribedStruct T>
  Along<T> along(int status) const {
    if (!keep_answer) return {};
    return [keep = keep_answer, status](Connection& connection, const T& record) {
      keep(connection, status, to_json(record));
    };
  }

private:
  void fill_query(const Description& description, void* value) const;
  void fill_body(const Description& description, void* value);
};

}  // namespace agw
