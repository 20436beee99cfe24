#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/response.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "features/events/hub.hpp"
#include "io/process/blocking.hpp"
#include "server/http/router.hpp"
#include "server/idempotency.hpp"

namespace agw {

/// A request to the gateway's own API.
struct ApiCall {
  std::string method;                 ///< `GET`
  std::vector<std::string> segments;  ///< of the path, not encoded
  std::vector<std::pair<std::string, std::string>> parameters{};
  std::string body{};  ///< JSON, or empty
};

/// From this size on, work on a text would hold the loop for milliseconds.
inline constexpr std::size_t large_mcp_text = 256 * 1024;  // bytes

/// Calls the gateway's routes without a connection, with all their checks. Set the router before the first call.
class ApiCaller {
public:
  ApiCaller(Idempotency& idempotency, BlockingPool& blocking, Hub& hub, std::size_t body_limit)
      : idempotency_(idempotency), blocking_(blocking), hub_(hub), body_limit_(body_limit) {}

  void use(const Router& router) { router_ = &router; }
  const Routes& routes() const { return router_->routes(); }

  /// Returns the response, whatever its status.
  Task<Response> call(ApiCall wanted) const;
  /// The body of a successful response. Throws ToolFailure with the error's text for other responses.
  Task<std::string> text(ApiCall wanted) const;
  /// The same as JSON.
  Task<json::value> ask(ApiCall wanted) const;

  /// For work on large bodies.
  BlockingPool& blocking() const { return blocking_; }

private:
  Task<Response> dispatched(ApiCall wanted, const Route& route) const;

  Idempotency& idempotency_;
  BlockingPool& blocking_;
  Hub& hub_;
  const std::size_t body_limit_;
  const Router* router_ = nullptr;
};

/// A failure of a tool; the message is its text for the model.
class ToolFailure : public std::runtime_error {
public:
  explicit ToolFailure(const std::string& why, int status = 0) : std::runtime_error(why), status_(status) {}
  int status() const { return status_; }  ///< of the API's response; 0 without one

private:
  int status_;
};

/// The text of an error response: its `error`, the record that it names, and its details.
std::string error_text(const Response& response);

inline bool is_success(const Response& response) { return response.status >= 200 && response.status <= 299; }

}  // namespace agw
