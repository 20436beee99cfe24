// A session with an MCP server: its protocol, its tools, and their calls.
//
// The *era* is modern (each request contains its `_meta`, questions are part of the result) or legacy (a handshake, and
// requests by the server). It is determined once and passed to the next session, which saves the discovery:
//
//   1. `server/discover`, unless the server is known to be legacy. Its result lists the versions. Certain errors show a
//      modern server that does not support us, which is a failure; everything else means legacy.
//   2. Otherwise `initialize`, then `notifications/initialized`. If the server refuses this with a modern error, repeat
//      step 1: the server had been too slow, or has been upgraded.
//   3. `tools/list`, page by page, up to 500 tools. If a page fails, the old list is kept.
//
// `run` updates the list until the transport fails, at most once a second: when the server notifies us, which in the
// modern era requires a subscription.
//
// *Elicitation*: during a call whose person can be asked, the server may ask them for input. In the legacy era, it
// sends a request that does not identify the call; it is assigned to the latest one. In the modern era, the result
// specifies the required input, and the call is repeated with the answers, at most eight times. A call waits for its
// questions before it ends.
//
// Data from a server is not trusted: names, descriptions, schemas and their depth are limited, and invalid tools are
// left out.

#include "features/integrations/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/containers.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/integrations/elicitation.hpp"
#include "features/integrations/marked_arguments.hpp"
#include "features/integrations/protocol.hpp"
#include "features/integrations/results.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr std::array modern_errors{rpc_code::header_mismatch, rpc_code::missing_capability,
                                   rpc_code::unsupported_version};

constexpr auto discovery_limit = 5s;
constexpr auto start_limit = 180s;  // programs such as npx and uvx download the server first
constexpr auto handshake_limit = 30s;
constexpr auto call_limit = 120s;
constexpr auto close_limit = 1s;
constexpr auto subscription_limit = 24h;
constexpr auto between_listings = 1s;
constexpr int max_pages = 100;
constexpr int max_input_rounds = 8;
constexpr std::size_t max_tools = 500;
constexpr std::size_t max_tool_description_length = 4096;
constexpr std::size_t max_schema_length = 64 * 1024;
constexpr std::size_t max_tool_name_length = 128;
constexpr std::size_t max_reported = 20;

json::object modern_meta(json::object capabilities = {}) {
  return {{mcp_version_key, mcp_modern_version},
          {mcp_client_capabilities_key, std::move(capabilities)},
          {mcp_client_key, mcp_implementation()}};
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= max_tool_name_length && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-./").find(c) != std::string_view::npos;
  });
}

/// Whether the failure of discovery shows that the server knows the modern protocol.
bool is_modern_failure(const RpcResponse& response) {
  if (!response.error || !contains(modern_errors, response.error->code)) return false;
  return response.error->code != rpc_code::unsupported_version ||
         (response.error->data.is_object() &&
          lists_string(response.error->data.get_object(), "supported", mcp_modern_version));
}

}  // namespace

/// An active call whose person can answer the server's questions.
class McpSession::ElicitingCall {
public:
  ElicitingCall(McpSession& session, const ToolCall& call)
      : session_(session), call_(call), stopped_(call.stop, [this] { over_.request(); }), group_(session.loop_) {
    session_.eliciting_.push_back(this);
  }
  ~ElicitingCall() {
    const auto removed = std::erase(session_.eliciting_, this);
    AGW_ASSERT(removed == 1);
  }
  ElicitingCall(const ElicitingCall&) = delete;
  ElicitingCall& operator=(const ElicitingCall&) = delete;

  void ask(const RpcMessage& request) {
    if (!over_.requested()) group_.spawn(answer(request.id, request.params));
  }

  /// Cancels open questions.
  Task<> end() {
    over_.request();
    co_await group_.join();
  }

private:
  Task<> answer(json::value id, json::object params) {
    auto result = co_await elicit(call_, std::move(params), over_);
    session_.transport_->respond({{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"result", std::move(result)}});
  }

  McpSession& session_;
  const ToolCall& call_;
  StopSource over_;
  StopSource::Listener stopped_;
  TaskGroup group_;
};

McpSession::McpSession(Loop& loop, std::string name, std::unique_ptr<McpTransport> transport)
    : loop_(loop), name_(std::move(name)), transport_(std::move(transport)), tools_changed_(loop) {
  listen_to(*transport_);
}

void McpSession::listen_to(McpTransport& transport) {
  transport.on_notice([this](const RpcMessage& notice) {
    if (notice.method == "notifications/tools/list_changed") tools_changed_.notify();
  });
  transport.on_request([this](const RpcMessage& request) { return handle_request(request); });
}

McpSession::~McpSession() = default;

Task<> McpSession::close(std::chrono::milliseconds limit) { co_await transport_->close(limit); }

Task<std::string> McpSession::open(std::optional<McpEra> era, StopSource& stop) {
  if (auto problem = co_await transport_->open(stop); !problem.empty()) co_return problem;
  std::string problem;
  if (!era || *era == McpEra::modern) problem = co_await discover(stop);
  if (problem.empty() && era_ != McpEra::modern) problem = co_await initialize(stop);
  if (!problem.empty()) co_return problem;
  AGW_ASSERT(era_);
  co_return co_await list_tools(stop);
}

/// Sets the modern era if the server supports that protocol, otherwise the legacy era.
Task<std::string> McpSession::discover(StopSource& stop) {
  transport_->set_protocol(McpEra::modern, std::string(mcp_modern_version));
  const auto response = co_await transport_->send_request(
      {.method = "server/discover", .params = {{"_meta", modern_meta()}}, .limit = discovery_limit}, stop);
  const bool speaks = response.succeeded() && lists_string(response.result, "supportedVersions", mcp_modern_version);
  if (!speaks && is_modern_failure(response)) co_return response.failure();
  if (!speaks) {
    era_ = McpEra::legacy;
    const bool is_gone = !response.succeeded() && !response.error && !response.timed_out && response.status == 0;
    co_return is_gone ? response.problem : std::string();
  }
  era_ = McpEra::modern;
  read_capabilities(response.result);
  co_return "";
}

Task<RpcResponse> McpSession::send_initialize(StopSource& stop) {
  co_return co_await transport_->send_request(
      {.method = "initialize",
       .params = {{"protocolVersion", mcp_legacy_versions.front()},
                  {"capabilities", json::object{{"elicitation", json::object()}}},
                  {"clientInfo", mcp_implementation()}},
       .limit = start_limit},
      stop);
}

/// Replaces the transport by the older one if the server has that. Returns whether it has.
Task<bool> McpSession::fall_back(StopSource& stop) {
  auto other = transport_->older();
  if (!other) co_return false;
  listen_to(*other);
  const auto problem = co_await other->open(stop);
  if (problem.empty()) std::swap(transport_, other);
  co_await other->close(close_limit);
  co_return problem.empty();
}

Task<std::string> McpSession::initialize(StopSource& stop) {
  era_ = McpEra::legacy;
  transport_->set_protocol(McpEra::legacy, "");
  auto response = co_await send_initialize(stop);
  // By these, clients recognize servers of revision 2024-11-05 (2025-06-18, Backwards Compatibility).
  const bool is_refused = response.status == 400 || response.status == 404 || response.status == 405;
  if (is_refused && co_await fall_back(stop)) response = co_await send_initialize(stop);
  if (!response.succeeded()) {
    // The server had been too slow for discovery, or has been upgraded since.
    if (is_modern_failure(response) && (co_await discover(stop)).empty() && era_ == McpEra::modern) co_return "";
    co_return response.failure();
  }
  const auto version = string_or_empty(response.result, "protocolVersion");
  if (!contains(mcp_legacy_versions, version)) {
    co_return fmt::format("it speaks a revision of MCP that this gateway does not: {}", to_utf8(version.substr(0, 40)));
  }
  transport_->set_protocol(McpEra::legacy, version);
  co_await transport_->notify("notifications/initialized", {});
  read_capabilities(response.result);
  transport_->listen();  // for notifications and requests from the server
  co_return "";
}

void McpSession::read_capabilities(const json::object& result) {
  const auto capabilities = object_or_empty(result, "capabilities");
  has_tools_ = capabilities.contains("tools");
  notifies_changes_ = is_true(object_or_empty(capabilities, "tools"), "listChanged");
}

Task<RpcResponse> McpSession::send_request(RpcRequest request, StopSource& stop) {
  if (era_ == McpEra::modern && !request.params.contains("_meta")) request.params["_meta"] = modern_meta();
  co_return co_await transport_->send_request(std::move(request), stop);
}

/// Repeats a call of the modern protocol with the input that the server requires, until it has a result.
Task<RpcResponse> McpSession::send_with_input(RpcRequest request, StopSource& stop, const ToolCall& caller) {
  AGW_ASSERT(era_ == McpEra::modern);
  AGW_ASSERT(caller.ask_person);
  request.params["_meta"] = modern_meta({{"elicitation", json::object()}});
  auto response = co_await send_request(request, stop);
  for (int round = 0; round < max_input_rounds && needs_input(response.result) && !stop.requested(); ++round) {
    auto input = co_await required_input(caller, response.result, stop);
    if (!input) break;
    auto repeated = request;
    for (auto& [name, value] : *input) repeated.params[name] = std::move(value);
    response = co_await send_request(std::move(repeated), stop);
  }
  co_return response;
}

/// Replaces the list only once it is complete: calls use the old one until then.
Task<std::string> McpSession::list_tools(StopSource& stop) {
  std::vector<OfferedTool> listed;
  std::string cursor;
  for (int page = 0; has_tools_ && page < max_pages && listed.size() < max_tools; ++page) {
    json::object params;
    if (!cursor.empty()) params["cursor"] = cursor;
    const auto response =
        co_await send_request({.method = "tools/list", .params = std::move(params), .limit = handshake_limit}, stop);
    if (!response.succeeded()) co_return "its tools cannot be listed: " + response.failure();
    if (const auto* tools = array_member(response.result, "tools")) {
      for (const auto& tool : *tools) add_tool(listed, tool);
    }
    cursor = string_member(response.result, "nextCursor").value_or("");
    if (cursor.empty()) break;
  }
  AGW_ASSERT(listed.size() <= max_tools);
  tools_ = std::move(listed);
  co_return "";
}

void McpSession::add_tool(std::vector<OfferedTool>& listed, const json::value& value) {
  if (!value.is_object() || listed.size() == max_tools) return;
  const auto& members = value.get_object();
  const auto name = string_or_empty(members, "name");
  const bool is_known = contains(listed, name, &OfferedTool::name);
  if (!is_tool_name(name)) {
    return report_skipped(
        name, fmt::format("a name has 1 to {} letters, digits, '_', '-', '.' and '/'", max_tool_name_length));
  }
  if (is_known) {
    log::debug("integration {}: skipped a tool with a duplicate name", name_);
    return;
  }
  auto description =
      std::string(string_member(members, "description").value_or(string_member(members, "title").value_or("")));
  if (description.size() > max_tool_description_length)
    description = to_utf8(description.substr(0, max_tool_description_length));
  const auto* schema = object_member(members, "inputSchema");
  const bool is_deep = schema && nests_deeper(members.at("inputSchema"), max_json_depth);
  const bool is_usable = schema && !is_deep && to_json(*schema).size() <= max_schema_length;
  if (!is_usable) {
    log::debug("integration {}: the schema of {} is missing, too large or too deep, so it is not shown", name_, name);
  }
  const auto bad_mark = is_usable && sends_marked() ? problem_of_marks(*schema) : std::string();
  if (!bad_mark.empty()) return report_skipped(name, "an x-mcp-header of its schema " + bad_mark);
  listed.push_back({name, std::move(description), is_usable ? *schema : json::object{{"type", "object"}}});
}

bool McpSession::sends_marked() const { return era_ == McpEra::modern && transport_->sends_headers(); }

/// Reports each name once, because servers list their tools repeatedly.
void McpSession::report_skipped(const std::string& name, const std::string& why) {
  const auto shown = to_json(json::value(to_utf8(name.substr(0, max_tool_name_length))));
  if (reported_skipped_.size() == max_reported || !reported_skipped_.insert(shown).second) return;
  log::warn("integration {}: the tool {} is left out, as {}", name_, shown, why);
}

Task<std::string> McpSession::run(StopSource& stop, std::function<void()> tools_changed) {
  AGW_ASSERT(era_);
  std::string why;
  StopSource over;
  StopSource::Listener when_stopped(stop, [&] { over.request(); });
  TaskGroup group(loop_);
  if (era_ == McpEra::modern && notifies_changes_) group.spawn(subscribe(over));
  group.spawn([](McpSession& self, StopSource& ending, std::function<void()> changed) -> Task<> {
    while (!ending.requested()) {
      co_await self.follow_changes(ending);
      if (!ending.requested()) changed();
    }
  }(*this, over, std::move(tools_changed)));
  const auto wait = [](McpTransport& transport, std::string& cause) -> Task<> {
    cause = co_await transport.wait_for_failure();
  };
  co_await with_timeout(stop, no_limit, wait(*transport_, why));
  over.request();
  co_await group.join();
  co_return why;
}

/// Lists the tools again when the server reports a change, at a limited rate.
Task<> McpSession::follow_changes(StopSource& stop) {
  if (co_await with_timeout(stop, no_limit, tools_changed_.wait()) != WaitResult::done) co_return;
  tools_changed_.reset();
  const auto problem = co_await list_tools(stop);
  if (!problem.empty() && !stop.requested()) log::warn("integration {}: {}", name_, problem);
  co_await pause(stop, between_listings);
}

Task<> McpSession::subscribe(StopSource& stop) {
  while (!stop.requested()) {
    const auto response =
        co_await send_request({.method = "subscriptions/listen",
                               .params = {{"notifications", json::object{{"toolsListChanged", true}}}},
                               .limit = subscription_limit},
                              stop);
    if (response.error) co_return;
    co_await pause(stop, 10s);
  }
}

const json::object* McpSession::schema_of(const std::string& tool) const {
  const auto found = std::ranges::find(tools_, tool, &OfferedTool::name);
  return found == tools_.end() ? nullptr : &found->input_schema;
}

bool McpSession::handle_request(const RpcMessage& request) {
  if (request.method != "elicitation/create" || eliciting_.empty()) return false;
  // The request does not identify its call, so it is assigned to the latest one.
  eliciting_.back()->ask(request);
  return true;
}

/// Sends a call, and asks the person of `caller`, if any, what the server wants to know. If the server expects other
/// headers, what it marks has changed: lists the tools and repeats the call.
Task<RpcResponse> McpSession::send_call(RpcRequest request, StopSource& stop, const ToolCall* caller) {
  for (bool is_repeated = false;; is_repeated = true) {
    set_marked_headers(request);
    RpcResponse response;
    if (caller && era_ == McpEra::modern) {
      response = co_await send_with_input(request, stop, *caller);
    } else {
      response = co_await send_request(request, stop);
    }
    const bool expects_others = response.error && response.error->code == rpc_code::header_mismatch;
    if (!expects_others || !sends_marked() || is_repeated) co_return response;
    if (!(co_await list_tools(stop)).empty()) co_return response;
    tools_changed_.notify();
  }
}

void McpSession::set_marked_headers(RpcRequest& call) const {
  const auto* schema = sends_marked() ? schema_of(string_or_empty(call.params, "name")) : nullptr;
  const auto* arguments = object_member(call.params, "arguments");
  call.headers.clear();
  if (schema && arguments) call.headers = headers_of_marked(*schema, *arguments);
}

Task<McpSession::CallResult> McpSession::call(std::string tool, json::object arguments, StopSource& stop,
                                              const ToolCall* caller) {
  RpcRequest request{.method = "tools/call", .limit = call_limit};
  request.params = {{"name", std::move(tool)}, {"arguments", std::move(arguments)}};
  request.waits = caller ? caller->waits : nullptr;
  const bool has_person = caller && caller->ask_person;
  std::optional<ElicitingCall> eliciting;
  if (has_person) eliciting.emplace(*this, *caller);
  RpcResponse response;
  std::exception_ptr failure;
  try {
    response = co_await send_call(std::move(request), stop, has_person ? caller : nullptr);
  } catch (...) {
    failure = std::current_exception();
  }
  if (eliciting) co_await eliciting->end();
  if (failure) std::rethrow_exception(failure);
  CallResult result{.session_lost = response.session_lost};
  result.outcome = response.succeeded() ? tool_outcome(response.result) : failed(response.failure());
  co_return result;
}

}  // namespace agw
