#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/task.hpp"
#include "cli/find_gateway.hpp"

namespace agw::cli {

/// The path of a request, each segment encoded, with those parameters that have a value:
/// `path({"threads", id}, {{"limit", limit}})`.
using Parameters = std::vector<std::pair<std::string, std::optional<std::string>>>;
std::string path(const std::vector<std::string>& segments, const Parameters& parameters = {});

/// The gateway answered a request with an error.
class Refused : public std::runtime_error {
public:
  Refused(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

private:
  int status_;
};

/// Asks the gateway over HTTP, each time on a connection of its own. Throws Refused for an answer other than 2xx, and
/// std::runtime_error where none comes.
class Client {
public:
  /// `gateway` must outlive this.
  explicit Client(const FoundGateway& gateway) : gateway_(gateway) {}

  /// Any request, its body as it is sent; the body of the answer as it came.
  Task<std::string> ask(std::string method, std::string path, std::string body = {}) const;
  /// The body just as it was sent.
  Task<std::string> get_text(std::string path) const;
  Task<json::value> get(std::string path) const;
  Task<json::object> post(std::string path, json::object body) const;
  Task<json::object> patch(std::string path, json::object body) const;
  Task<> remove(std::string path) const;

  /// Whether the gateway takes the token; not so where it was started without one (`--no-token`).
  Task<bool> is_let_in() const;

private:
  struct Reply {
    int status = 0;
    std::string body;
  };
  Task<Reply> exchange(std::string method, std::string path, std::string body) const;
  [[noreturn]] void refuse(const std::string& request, const std::string& sent, const Reply& reply) const;

  const FoundGateway& gateway_;
};

/// Why the gateway does not let in who comes with the token that was found, or with none where none was: as a clause.
std::string why_not_let_in(const FoundGateway& gateway);

/// Runs `task` on `loop` to its end, and answers what it answered; throws what it threw.
int run(Loop& loop, Task<int> task);

}  // namespace agw::cli
