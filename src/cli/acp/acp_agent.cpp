// The gateway as an agent of an editor: the methods of the protocol that concern no single session. Methods that name a
// session are forwarded to it (session.hpp).

#include "cli/acp/acp_agent.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t protocol_version = 1;
constexpr auto stop_limit = 2s;
constexpr std::size_t max_sessions = 64;
constexpr std::size_t sessions_per_page = 50;
constexpr auto auth_method = "agent-gateway";

std::string required_param(const json::object& params, std::string_view name) {
  const auto text = string_member(params, name);
  if (!text) throw RpcError(acp_code::invalid_params, fmt::format("{} is a string", name));
  return std::string(*text);
}

std::string required_directory(const json::object& params, std::string_view name) {
  auto directory = required_param(params, name);
  if (!directory.starts_with('/') || directory.find('\0') != directory.npos)
    throw RpcError(acp_code::invalid_params, fmt::format("{} is an absolute path", name));
  return directory;
}

std::vector<std::string> more_directories(const json::object& params) {
  const auto* given = params.if_contains("additionalDirectories");
  if (!given || given->is_null()) return {};
  const auto* list = given->if_array();
  auto directories = list ? strings_of(*list) : std::vector<std::string>();
  const bool are_paths = std::ranges::all_of(directories, [](const std::string& directory) {
    return directory.starts_with('/') && directory.find('\0') == directory.npos;
  });
  if (!list || directories.size() != list->size() || !are_paths)
    throw RpcError(acp_code::invalid_params, "additionalDirectories is a list of absolute paths");
  return directories;
}

json::object capabilities() {
  const json::object yes;
  return {
      {"loadSession", true},
      {"promptCapabilities", json::object{{"image", true}, {"audio", false}, {"embeddedContext", true}}},
      {"mcpCapabilities", json::object{{"http", true}, {"sse", true}}},
      {"sessionCapabilities",
       json::object{{"list", yes}, {"delete", yes}, {"resume", yes}, {"close", yes}, {"additionalDirectories", yes}}},
      {"auth", json::object{{"logout", yes}}}};
}

/// The description of a thread as a session of the directory.
json::object session_info(const json::object& thread, const std::string& directory) {
  return {{"sessionId", string_or_empty(thread, "id")},
          {"cwd", directory},
          {"title", string_or_empty(thread, "title")},
          {"updatedAt", string_or_empty(thread, "updated_at")}};
}

std::string name_of(const std::string& directory) {
  auto name = fs::path(directory).lexically_normal().filename().string();
  if (name.empty()) name = fs::path(directory).lexically_normal().parent_path().filename().string();
  return name.empty() ? directory : to_utf8(name);
}

/// The directory with symlinks resolved, as the gateway stores it; unchanged if it does not exist.
std::string resolved(const std::string& directory) {
  std::error_code error;
  const auto path = fs::canonical(directory, error);
  return error ? directory : path.string();
}

/// The path of a project, or the home directory for a thread without one.
std::string directory_of(const json::array& projects, const std::string& project) {
  for (const auto& entry : projects) {
    if (string_member(entry.as_object(), "id") == project) return string_or_empty(entry.as_object(), "path");
  }
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? home : "/";
}

}  // namespace

AcpAgent::AcpAgent(Loop& loop, AcpOptions options, RpcPeer::Send send)
    : loop_(loop), options_(std::move(options)), gateway_(options_.data_dir), peer_(loop, *this, std::move(send)) {}

Task<> AcpAgent::stop() {
  peer_.end_asking();
  while (!sessions_.empty()) co_await end_session(sessions_.begin()->first);
  co_await peer_.stop(stop_limit);
  while (!sessions_.empty()) co_await end_session(sessions_.begin()->first);
}

Task<json::object> AcpAgent::answer(std::string method, json::object params, RpcCallPointer call) {
  if (method == "initialize") co_return initialize(params);
  if (!is_initialized_ && (method.starts_with("session/") || method == "authenticate" || method == "logout"))
    throw RpcError(acp_code::invalid_request, "the connection is not initialized: send initialize first");
  if (method == "authenticate") co_return co_await authenticate(std::move(params));
  if (method == "logout") co_return co_await log_out();
  if (method.starts_with("session/") && is_logged_out_)
    throw RpcError(acp_code::auth_required, "logged out: authenticate first");
  if (method == "session/new") co_return co_await new_session(std::move(params), std::move(call));
  if (method == "session/load") co_return co_await open_session(std::move(params), std::move(call), true);
  if (method == "session/resume") co_return co_await open_session(std::move(params), std::move(call), false);
  if (method == "session/list") co_return co_await list_sessions(std::move(params));
  if (method == "session/close") co_return co_await close_session(std::move(params));
  if (method == "session/delete") co_return co_await delete_session(std::move(params));
  if (method == "session/set_mode") co_return co_await set_mode(std::move(params));
  if (method == "session/set_config_option") co_return co_await set_option(std::move(params));
  if (method == "session/prompt") {
    const auto session = session_of(params);
    const auto* blocks = array_member(params, "prompt");
    if (!blocks) throw RpcError(acp_code::invalid_params, "prompt is a list of content blocks");
    co_return co_await session->prompt(*blocks, std::move(call));
  }
  throw RpcError(acp_code::method_not_found, fmt::format("unknown method {}", to_json(json::value(method))));
}

Task<> AcpAgent::notified(std::string method, json::object params) {
  if (method == "session/cancel") co_await session_of(params)->cancel();
}

json::object AcpAgent::initialize(const json::object& params) {
  is_initialized_ = true;
  abilities_ = client_abilities(object_or_empty(params, "clientCapabilities"));
  auto info = mcp_implementation();
  info["title"] = "Agent Gateway";
  return {{"protocolVersion", protocol_version},
          {"agentCapabilities", capabilities()},
          {"agentInfo", std::move(info)},
          {"authMethods",
           json::array{json::object{{"id", auth_method},
                                    {"name", "Agent Gateway"},
                                    {"description", "The token in the gateway's data directory; nothing to enter"}}}}};
}

Task<json::object> AcpAgent::authenticate(json::object params) {
  if (required_param(params, "methodId") != auth_method)
    throw RpcError(acp_code::invalid_params, fmt::format("methodId is {}", auth_method));
  if (!co_await gateway_.is_authorized())
    throw RpcError(acp_code::auth_required, "the gateway was started without a token, or with another one: restart it");
  is_logged_out_ = false;
  co_return json::object();
}

Task<json::object> AcpAgent::log_out() {
  while (!sessions_.empty()) co_await end_session(sessions_.begin()->first);
  is_logged_out_ = true;
  co_return json::object();
}

/// The project of the directory, which is created without trust if it does not exist.
Task<json::object> AcpAgent::project_at(std::string directory) {
  const auto path = resolved(directory);
  for (const auto& project : co_await gateway_.list("/projects")) {
    if (string_member(project.as_object(), "path") == path) co_return project.as_object();
  }
  co_return co_await gateway_.post("/projects", {{"name", name_of(path)}, {"path", path}});
}

/// The person is asked once per project, and only if trust would have an effect.
std::string AcpAgent::project_to_trust(const json::object& project, const std::string& directory) {
  std::error_code error;
  if (is_true(project, "trusted") || !fs::is_directory(fs::path(directory) / ".agents", error)) return {};
  auto id = string_or_empty(project, "id");
  return asked_for_trust_.insert(id).second ? id : std::string();
}

Task<json::object> AcpAgent::new_session(json::object params, RpcCallPointer call) {
  const auto directory = required_directory(params, "cwd");
  auto servers = editor_servers(params);
  auto directories = more_directories(params);
  require_room();
  auto lists = co_await gateway_.lists();
  json::object body;
  if (options_.agent) {
    const auto id = agent_id(lists.agents, *options_.agent);
    if (id.empty()) throw RpcError(acp_code::invalid_params, "agent not found or disabled: " + *options_.agent);
    body["agent_id"] = id;
  }
  const auto project = co_await project_at(directory);
  body["project_id"] = string_or_empty(project, "id");
  auto thread = co_await gateway_.post("/threads", std::move(body));
  const auto id = string_or_empty(thread, "id");
  const auto session = co_await add_session({.thread = std::move(thread),
                                             .directory = directory,
                                             .real_directory = string_or_empty(project, "path"),
                                             .lists = std::move(lists),
                                             .abilities = abilities_,
                                             .project_to_trust = project_to_trust(project, directory),
                                             .servers = std::move(servers),
                                             .more_directories = std::move(directories)},
                                            std::move(call), false);
  auto result = session->state();
  result["sessionId"] = id;
  co_return result;
}

Task<json::object> AcpAgent::open_session(json::object params, RpcCallPointer call, bool replays) {
  const auto id = required_param(params, "sessionId");
  auto directory = required_directory(params, "cwd");
  auto lists = co_await gateway_.lists();
  const auto thread = co_await gateway_.get(path({"threads", id}));
  if (!thread.is_object()) throw RpcError(acp_code::internal_error, "the gateway's thread is not an object");
  std::string real_directory, to_trust;
  for (const auto& project : co_await gateway_.list("/projects")) {
    if (project.at("id") != (thread.get_object().contains("project_id") ? thread.at("project_id") : nullptr)) continue;
    real_directory = string_or_empty(project.as_object(), "path");
    to_trust = project_to_trust(project.as_object(), real_directory);
  }
  const bool is_elsewhere = !real_directory.empty() && resolved(directory) != real_directory;
  if (is_elsewhere) directory = real_directory;
  co_await end_session(id);
  const auto session = co_await add_session({.thread = thread.get_object(),
                                             .directory = directory,
                                             .real_directory = real_directory.empty() ? directory : real_directory,
                                             .lists = std::move(lists),
                                             .abilities = abilities_,
                                             .project_to_trust = std::move(to_trust),
                                             .servers = editor_servers(params),
                                             .more_directories = more_directories(params)},
                                            std::move(call), replays);
  co_return session->state();
}

void AcpAgent::require_room() const {
  if (sessions_.size() >= max_sessions)
    throw RpcError(acp_code::internal_error, fmt::format("{} sessions are open: close one", max_sessions));
}

Task<AcpAgent::SessionPointer> AcpAgent::add_session(SessionStart start, RpcCallPointer call, bool replays) {
  require_room();
  const auto id = string_or_empty(start.thread, "id");
  const auto session = std::make_shared<Session>(loop_, peer_, gateway_, std::move(start));
  std::exception_ptr failure;
  try {
    co_await session->open(replays);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure || sessions_.contains(id)) {
    co_await session->close();
    if (failure) std::rethrow_exception(failure);
    throw RpcError(acp_code::invalid_request, "the session is being opened by another request");
  }
  sessions_[id] = session;
  call->afterwards.emplace_back([session] { session->send_commands_and_notices(); });
  co_return session;
}

/// Ends the session without changing its thread.
Task<> AcpAgent::end_session(std::string id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) co_return;
  const auto session = found->second;
  sessions_.erase(found);
  co_await session->close();
}

Task<json::object> AcpAgent::close_session(json::object params) {
  const auto session = session_of(params);
  co_await session->cancel();
  co_await end_session(required_param(params, "sessionId"));
  co_return json::object();
}

Task<json::object> AcpAgent::delete_session(json::object params) {
  const auto id = required_param(params, "sessionId");
  if (const auto found = sessions_.find(id); found != sessions_.end()) co_await found->second->cancel();
  co_await end_session(id);
  try {
    co_await gateway_.remove(path({"threads", id}));
  } catch (const RpcError& error) {
    // ACP, session/delete: deleting a session that does not exist succeeds.
    if (error.code() != acp_code::not_found) throw;
  }
  co_return json::object();
}

/// Checks that the last session of the previous page exists. Otherwise the next page would be empty, like the end of
/// the list.
Task<> AcpAgent::require_cursor(std::string id) {
  try {
    co_await gateway_.get(path({"threads", id}));
  } catch (const RpcError& error) {
    if (error.code() != acp_code::not_found) throw;
    throw RpcError(acp_code::invalid_params, "unknown cursor: list the sessions from the beginning");
  }
}

Task<json::object> AcpAgent::list_sessions(json::object params) {
  const auto projects = co_await gateway_.list("/projects");
  Parameters parameters{{"limit", std::to_string(sessions_per_page)}};
  if (const auto cursor = string_member(params, "cursor")) {
    co_await require_cursor(std::string(*cursor));
    parameters.emplace_back("before", std::string(*cursor));
  }
  if (string_member(params, "cwd")) {
    const auto directory = resolved(required_directory(params, "cwd"));
    std::string project;
    for (const auto& entry : projects) {
      if (string_member(entry.as_object(), "path") == directory) project = string_or_empty(entry.as_object(), "id");
    }
    if (project.empty()) co_return json::object{{"sessions", json::array()}};
    parameters.emplace_back("project_id", project);
  }
  const auto threads = co_await gateway_.list(path({"threads"}, parameters));
  json::array sessions;
  for (const auto& entry : threads) {
    const auto& thread = entry.as_object();
    if (!string_member(thread, "job_id"))
      sessions.push_back(session_info(thread, directory_of(projects, string_or_empty(thread, "project_id"))));
  }
  json::object result{{"sessions", std::move(sessions)}};
  if (threads.size() == sessions_per_page) result["nextCursor"] = string_or_empty(threads.back().as_object(), "id");
  co_return result;
}

Task<json::object> AcpAgent::set_mode(json::object params) {
  const auto session = session_of(params);
  co_await session->set_mode(required_param(params, "modeId"));
  co_return json::object();
}

Task<json::object> AcpAgent::set_option(json::object params) {
  const auto session = session_of(params);
  co_await session->set_option(required_param(params, "configId"), required_param(params, "value"));
  co_return json::object{{"configOptions", session->state()["configOptions"]}};
}

AcpAgent::SessionPointer AcpAgent::session_of(const json::object& params) const {
  const auto id = required_param(params, "sessionId");
  const auto found = sessions_.find(id);
  if (found != sessions_.end()) return found->second;
  throw RpcError(acp_code::not_found,
                 fmt::format("session {} is not open: load or resume it first", to_json(json::value(id))));
}

}  // namespace agw::cli
