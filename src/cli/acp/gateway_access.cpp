#include "cli/acp/gateway_access.hpp"

#include <utility>

#include "base/json/json_values.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

namespace {

constexpr int bad_request = 400, unauthorized = 401, server_error = 500;

std::int64_t code_of(const ResponseError& error) {
  if (error.is_not_found()) return acp_code::not_found;
  const int status = error.status();
  if (status == unauthorized) return acp_code::auth_required;
  return status >= bad_request && status < server_error ? acp_code::invalid_params : acp_code::internal_error;
}

/// Runs a request and converts an error response of the gateway to an error of the protocol.
template <class Result>
Task<Result> translated(std::shared_ptr<const FoundGateway>, Task<Result> request) {
  try {
    co_return co_await std::move(request);
  } catch (const ResponseError& error) {
    throw RpcError(code_of(error), error.what());
  }
}

}  // namespace

std::shared_ptr<const FoundGateway> GatewayAccess::find() {
  auto found = std::make_shared<const FoundGateway>(find_or_start_gateway(data_dir_, was_found_));
  was_found_ = true;
  return found;
}

std::shared_ptr<const FoundGateway> GatewayAccess::find_running() const {
  return std::make_shared<const FoundGateway>(find_gateway(data_dir_));
}

Task<json::value> GatewayAccess::get(std::string path) {
  const auto gateway = find();
  const Client client(*gateway);
  co_return co_await translated(gateway, client.get(std::move(path)));
}

Task<json::array> GatewayAccess::list(std::string path) {
  auto value = co_await get(std::move(path));
  co_return value.is_array() ? std::move(value.get_array()) : json::array();
}

Task<json::object> GatewayAccess::post(std::string path, json::object body) {
  const auto gateway = find();
  const Client client(*gateway);
  co_return co_await translated(gateway, client.post(std::move(path), std::move(body)));
}

Task<json::object> GatewayAccess::patch(std::string path, json::object body) {
  const auto gateway = find();
  const Client client(*gateway);
  co_return co_await translated(gateway, client.patch(std::move(path), std::move(body)));
}

Task<> GatewayAccess::remove(std::string path) {
  const auto gateway = find();
  const Client client(*gateway);
  co_await translated(gateway, client.remove(std::move(path)));
}

Task<std::string> GatewayAccess::upload(std::string name, std::string type, std::string bytes) {
  const auto gateway = find();
  const Client client(*gateway);
  const auto file = co_await translated(gateway, client.upload(agw::cli::path({"files"}, {{"name", std::move(name)}}),
                                                               std::move(type), std::move(bytes)));
  co_return string_or_empty(file, "id");
}

Task<bool> GatewayAccess::is_authorized() {
  const auto gateway = find();
  const Client client(*gateway);
  co_return co_await client.is_authorized();
}

Task<SessionLists> GatewayAccess::lists() {
  SessionLists lists;
  lists.modes = co_await list("/modes");
  lists.models = listed_models(co_await list("/models"));
  lists.agents = co_await list("/extensions?type=agent");
  lists.commands = co_await list("/extensions?type=command");
  const auto settings = co_await get("/settings");
  if (settings.is_object()) lists.default_model = string_or_empty(settings.get_object(), "default_model");
  co_return lists;
}

}  // namespace agw::cli
