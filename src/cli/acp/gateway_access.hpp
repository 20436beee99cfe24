#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "cli/acp/session_options.hpp"
#include "cli/client/client.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// The gateway that a bridge talks to: looked up for each request, and started if none runs. Refusals of the gateway
/// become RpcErrors whose code says what kind they are.
class GatewayAccess {
public:
  explicit GatewayAccess(std::optional<std::string> data_dir) : data_dir_(std::move(data_dir)) {}

  /// Finds or starts it. Throws StartError.
  std::shared_ptr<const FoundGateway> find();
  /// Finds it, without starting one. Throws StartError.
  std::shared_ptr<const FoundGateway> find_running() const;

  Task<json::value> get(std::string path);
  Task<json::array> list(std::string path);
  Task<json::object> post(std::string path, json::object body);
  Task<json::object> patch(std::string path, json::object body);
  Task<> remove(std::string path);
  /// Uploads a file; returns its id.
  Task<std::string> upload(std::string name, std::string type, std::string bytes);
  /// Whether the gateway accepts our token.
  Task<bool> is_authorized();

  /// The choices of a person in a session.
  Task<SessionLists> lists();

private:
  std::optional<std::string> data_dir_;
  bool was_found_ = false;
};

}  // namespace agw::cli
