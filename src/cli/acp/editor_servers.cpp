#include "cli/acp/editor_servers.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "features/integrations/http_transport.hpp"
#include "features/integrations/stdio_transport.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto connect_limit = 15s;
constexpr auto close_limit = 1s;
constexpr std::size_t max_servers = 32;

RpcError wrong_server(std::size_t number, std::string_view why) {
  return {acp_code::invalid_params, fmt::format("mcpServers[{}]: {}", number, why)};
}

/// Parses `[{"name", "value"}]`.
std::vector<std::pair<std::string, std::string>> pairs_in(const json::object& server, std::string_view member) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto* list = array_member(server, member);
  for (const auto& entry : list ? *list : json::array()) {
    const auto* pair = entry.if_object();
    if (pair) pairs.emplace_back(string_or_empty(*pair, "name"), string_or_empty(*pair, "value"));
  }
  return pairs;
}

EditorServer editor_server(const json::value& value, std::size_t number) {
  const auto* server = value.if_object();
  if (!server) throw wrong_server(number, "is an object");
  const auto type = string_or_empty(*server, "type");
  EditorServer read{.name = string_or_empty(*server, "name")};
  if (read.name.empty()) throw wrong_server(number, "name is a string");
  if (type == "http" || type == "sse") {
    read.url = string_or_empty(*server, "url");
    if (!WebUrl::parse(read.url)) throw wrong_server(number, "url is an http or https address");
    for (auto& [name, text] : pairs_in(*server, "headers")) read.headers.push_back({name, text});
    return read;
  }
  if (!type.empty() && type != "stdio") throw wrong_server(number, "only stdio, http and sse are possible");
  read.command = string_or_empty(*server, "command");
  if (read.command.empty()) throw wrong_server(number, "command is a string");
  read.arguments = strings_of(*server, "args");
  read.environment = pairs_in(*server, "env");
  return read;
}

/// The editor's environment, inherited by this program, and the server's own variables.
std::vector<std::string> environment_of(const EditorServer& server) {
  std::vector<std::string> variables;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view variable(*entry);
    const auto name = variable.substr(0, variable.find('='));
    const bool is_set = std::ranges::any_of(server.environment, [&](const auto& own) { return own.first == name; });
    if (!is_set) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : server.environment) variables.push_back(name + '=' + value);
  return variables;
}

Task<ServerProcess> process_of_editor(EditorServer server, std::filesystem::path directory) {
  ServerProcess process;
  process.options.arguments = {server.command};
  auto& arguments = process.options.arguments;
  arguments.insert(arguments.end(), server.arguments.begin(), server.arguments.end());
  process.options.environment = environment_of(server);
  process.options.directory = std::move(directory);
  process.options.separate_stderr = true;
  co_return process;
}

Task<ServiceAddress> address_of_editor(EditorServer server) {
  co_return ServiceAddress{
      .url = *WebUrl::parse(server.url), .headers = std::move(server.headers), .secrets = {}, .problem = {}};
}

Task<bool> no_other_credentials(McpRefusal /*refusal*/) { co_return false; }

}  // namespace

std::vector<EditorServer> editor_servers(const json::object& params) {
  std::vector<EditorServer> servers;
  const auto* given = params.if_contains("mcpServers");
  const auto* list = given ? given->if_array() : nullptr;
  if (given && !list && !given->is_null()) throw RpcError(acp_code::invalid_params, "mcpServers is a list");
  if (list && list->size() > max_servers)
    throw RpcError(acp_code::invalid_params, fmt::format("at most {} MCP servers are possible", max_servers));
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    auto server = editor_server((*list)[i], i);
    if (contains(servers, server.name, &EditorServer::name)) throw wrong_server(i, "another server has this name");
    servers.push_back(std::move(server));
  }
  return servers;
}

EditorServers::EditorServers(Loop& loop, std::vector<EditorServer> servers, std::filesystem::path directory,
                             OnProblem on_problem)
    : loop_(loop), directory_(std::move(directory)), on_problem_(std::move(on_problem)), tried_(loop), group_(loop) {
  for (auto& server : servers) servers_.push_back(std::make_unique<Server>(Server{.about = std::move(server)}));
  group_.on_failure([](const std::exception_ptr&) {});  // `run` reports problems; only cancellations remain
}

EditorServers::~EditorServers() = default;

std::unique_ptr<McpTransport> EditorServers::transport_to(const EditorServer& server) {
  if (!server.command.empty()) {
    return std::make_unique<StdioTransport>(
        loop_, server.name, [server, directory = directory_] { return process_of_editor(server, directory); });
  }
  if (!http_) http_ = std::make_unique<HttpClient>(loop_);
  return std::make_unique<HttpTransport>(
      loop_, *http_,
      McpHttpServer{server.name, true, [server] { return address_of_editor(server); }, no_other_credentials});
}

Task<> EditorServers::connect(StopSource& cancelled) {
  for (const auto& server : servers_) {
    if (std::exchange(server->is_running, true)) continue;
    server->has_tried = false;
    group_.spawn(run(*server));
  }
  co_await with_timeout(cancelled, connect_limit, until_tried());
}

Task<> EditorServers::until_tried() {
  while (!std::ranges::all_of(servers_, [](const auto& server) { return server->has_tried; })) co_await tried_.wait();
}

/// Runs one session from start to end. The next prompt starts another.
Task<> EditorServers::run(Server& server) {
  std::string problem;
  try {
    const auto session = std::make_shared<McpSession>(loop_, server.about.name, transport_to(server.about));
    problem = co_await session->open(std::nullopt, closing_);
    if (problem.empty()) {
      server.session = session;
      server.has_tried = true;
      tried_.pulse();
      problem = co_await session->run(closing_, [] {});
      server.session.reset();
    }
    co_await session->close(close_limit);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  server.session.reset();
  server.has_tried = true;
  server.is_running = false;
  tried_.pulse();
  if (!closing_.requested()) on_problem_(server.about.name, problem);
}

std::vector<ToolDescription> EditorServers::tools() const {
  std::vector<ToolDescription> tools;
  for (const auto& server : servers_) {
    if (!server->session) continue;
    for (const auto& tool : server->session->tools()) {
      auto name = tool_name_of(server->about.name, tool.name);
      if (contains(tools, name, &ToolDescription::name)) continue;
      tools.push_back({std::move(name), tool.description, tool.input_schema});
    }
  }
  return tools;
}

std::optional<EditorServers::Place> EditorServers::find(const std::string& tool) const {
  for (const auto& server : servers_) {
    if (!server->session) continue;
    for (const auto& offered : server->session->tools()) {
      if (tool_name_of(server->about.name, offered.name) == tool) return Place{server.get(), offered.name};
    }
  }
  return std::nullopt;
}

std::string EditorServers::server_of(const std::string& tool) const {
  const auto place = find(tool);
  return place ? place->server->about.name : std::string();
}

Task<ToolOutcome> EditorServers::call(std::string tool, json::object input, StopSource& stop) {
  const auto place = find(tool);
  if (!place) co_return failed("the editor's MCP server with this tool is not connected");
  const auto session = place->server->session;
  auto called = co_await session->call(place->tool, std::move(input), stop);
  if (called.session_lost) co_return failed("the editor's MCP server has ended its session: call the tool again later");
  co_return std::move(called.outcome);
}

Task<> EditorServers::close() {
  closing_.request();
  co_await group_.join();
}

}  // namespace agw::cli
