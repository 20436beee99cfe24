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

/// The gateway used by a bridge: looked up for each request, and started if none runs. Error responses become RpcErrors
/// with the corresponding code.
class GatewayAccess {
public:
  explicit GatewayAccess(std::optional<std::string> data_dir) : data_dir_(std::move(data_dir)) {}

  /// Finds or starts the gateway. Throws StartError.
  std::shared_ptr<const FoundGateway> find();
  /// Finds the gateway without starting it. Throws StartError.
  std::shared_ptr<const FoundGateway> find_running() const;

  Task<json::value> get(std::string path);
  Task<json::array> list(std::string path);
  Task<json::object> post(std::string path, json::object body);
  Task<json::object> patch(std::string path, json::object body);
  Task<> remove(std::string path);
  /// Uploads a file; returns its id.
  Task<std::string> upload(std::string name, std::string type, std::string bytes);
  /// Whether the gateway accepts the token.
  Task<bool> is_authorized();

  /// The choices that a person has in a session.
  Task<SessionLists> lists();

private:
  std::optional<std::string> data_dir_;
  bool was_found_ = false;
};

}  // namespace agw::cli
