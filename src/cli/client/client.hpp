#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// The path of a request: encoded segments, followed by the parameters that have a value: `path({"threads", id},
/// {{"limit", limit}})`.
using Parameters = std::vector<std::pair<std::string, std::optional<std::string>>>;
std::string path(const std::vector<std::string>& segments, const Parameters& parameters = {});

/// An error response of the gateway.
class ResponseError : public std::runtime_error {
public:
  static constexpr int not_found = 404;

  ResponseError(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }
  bool is_not_found() const { return status_ == not_found; }

private:
  int status_;
};

/// An HTTP client of the gateway, with one connection per request. Throws ResponseError for a status other than 2xx,
/// and std::runtime_error if there is no response.
class Client {
public:
  /// `gateway` must outlive this object.
  explicit Client(const FoundGateway& gateway) : gateway_(gateway) {}

  /// Sends a request with this body; returns the body of the response.
  Task<std::string> ask(std::string method, std::string path, std::string body = {}) const;
  /// The body of the response, unparsed.
  Task<std::string> get_text(std::string path) const;
  Task<json::value> get(std::string path) const;
  Task<json::object> post(std::string path, json::object body) const;
  struct StartedRun {
    std::string id;  ///< of the header field `X-Run-Id`
    json::object body;
  };
  /// Sends a `POST` that starts the run of a job.
  Task<StartedRun> start_run(std::string path) const;
  Task<json::object> patch(std::string path, json::object body) const;
  Task<> remove(std::string path) const;
  /// Uploads bytes of a media type.
  Task<json::object> upload(std::string path, std::string type, std::string bytes) const;

  /// Whether the gateway accepts the token; false if it runs without one (`--no-token`).
  Task<bool> is_authorized() const;

private:
  struct Reply {
    int status = 0;
    std::string body;
    std::string run_id{};
  };
  Task<Reply> exchange(std::string method, std::string path, std::string body,
                       std::string type = "application/json") const;
  /// Throws ResponseError for a status other than 2xx.
  Task<Reply> accepted(std::string method, std::string path, std::string body) const;
  [[noreturn]] void refuse(const std::string& request, const std::string& sent, const Reply& reply) const;

  const FoundGateway& gateway_;
};

/// The reason, as a clause, why the gateway rejects the token that was found, or a client without a token.
std::string authorization_problem(const FoundGateway& gateway);

/// Runs `task` on `loop` until it ends; returns its result or throws its exception.
int run(Loop& loop, Task<int> task);

}  // namespace agw::cli
