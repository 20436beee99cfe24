#include "features/mcp/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/group.hpp"
#include "base/json_member.hpp"
#include "base/json_reading.hpp"
#include "base/log.hpp"
#include "base/text_of.hpp"
#include "features/mcp/protocol.hpp"
#include "features/mcp/results.hpp"
#include "tools/failed.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr std::array modern_errors{rpc_code::header_mismatch, rpc_code::missing_capability,
                                   rpc_code::unsupported_version};

constexpr auto discovery_limit = 5s;
constexpr auto handshake_limit = 30s;
constexpr auto call_limit = 120s;
constexpr auto subscription_limit = 24h;
constexpr auto between_listings = 1s;
constexpr int most_pages = 100;
constexpr std::size_t most_tools = 500;
constexpr std::size_t longest_description = 4096;
constexpr std::size_t longest_schema = 64 * 1024;
constexpr std::size_t longest_tool_name = 128;
constexpr std::size_t most_told = 20;

json::object modern_meta() {
  return {{mcp_version_key, mcp_modern_version},
          {mcp_client_capabilities_key, json::object()},
          {mcp_client_key, mcp_implementation()}};
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_tool_name && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-./").find(c) != std::string_view::npos;
  });
}

bool lists(const json::object& members, std::string_view name, std::string_view text) {
  const auto texts = texts_of(members, name);
  return std::ranges::find(texts, text) != texts.end();
}

/// Whether a failed discovery was that of a server that knows the modern protocol.
bool is_modern_failure(const RpcAnswer& answer) {
  if (!answer.error || std::ranges::find(modern_errors, answer.error->code) == modern_errors.end()) return false;
  return answer.error->code != rpc_code::unsupported_version ||
         (answer.error->data.is_object() && lists(answer.error->data.get_object(), "supported", mcp_modern_version));
}

/// Parameters that the schema wants as headers too: `x-mcp-header`.
std::vector<std::pair<std::string, std::string>> headers_of(const json::object* schema, const json::object& arguments) {
  std::vector<std::pair<std::string, std::string>> headers;
  const auto* properties = schema ? object_member(*schema, "properties") : nullptr;
  if (!properties) return headers;
  for (const auto& [name, property] : *properties) {
    const auto header = property.is_object() ? string_member(property.get_object(), "x-mcp-header") : std::nullopt;
    const auto* value = arguments.if_contains(name);
    if (!header || !value || !is_tool_name(*header)) continue;
    if (value->is_string()) headers.emplace_back(fmt::format("Mcp-Param-{}", *header), value->get_string());
    if (value->is_int64() || value->is_uint64() || value->is_bool()) {
      headers.emplace_back(fmt::format("Mcp-Param-{}", *header), to_json(*value));
    }
  }
  return headers;
}

}  // namespace

McpSession::McpSession(Loop& loop, std::string name, std::unique_ptr<McpTransport> transport)
    : loop_(loop), name_(std::move(name)), transport_(std::move(transport)), tools_changed_(loop) {
  transport_->on_notice([this](const RpcMessage& notice) {
    if (notice.method == "notifications/tools/list_changed") tools_changed_.notify();
  });
}

McpSession::~McpSession() = default;

Task<> McpSession::close(std::chrono::milliseconds limit) { co_await transport_->close(limit); }

Task<std::string> McpSession::open(std::optional<McpEra> era, Stop& stop) {
  if (auto problem = co_await transport_->open(stop); !problem.empty()) co_return problem;
  std::string problem;
  if (!era || *era == McpEra::modern) problem = co_await discover(stop);
  if (problem.empty() && era_ != McpEra::modern) problem = co_await initialize(stop);
  if (!problem.empty()) co_return problem;
  co_return co_await list_tools(stop);
}

/// Leaves the era open where the server does not speak the modern protocol.
Task<std::string> McpSession::discover(Stop& stop) {
  transport_->speak(McpEra::modern, std::string(mcp_modern_version));
  const auto answer = co_await transport_->ask(
      {.method = "server/discover", .params = {{"_meta", modern_meta()}}, .limit = discovery_limit}, stop);
  const bool speaks = answer.succeeded() && lists(answer.result, "supportedVersions", mcp_modern_version);
  if (!speaks && is_modern_failure(answer)) co_return answer.failure();
  if (!speaks) {
    era_ = McpEra::legacy;
    const bool is_gone = !answer.succeeded() && !answer.error && !answer.timed_out && answer.status == 0;
    co_return is_gone ? answer.problem : std::string();
  }
  era_ = McpEra::modern;
  take_capabilities(answer.result);
  co_return "";
}

Task<std::string> McpSession::initialize(Stop& stop) {
  era_ = McpEra::legacy;
  transport_->speak(McpEra::legacy, "");
  const auto answer =
      co_await transport_->ask({.method = "initialize",
                                .params = {{"protocolVersion", mcp_legacy_versions.front()},
                                           {"capabilities", json::object{{"elicitation", json::object()}}},
                                           {"clientInfo", mcp_implementation()}},
                                .limit = handshake_limit},
                               stop);
  if (!answer.succeeded()) {
    // It was too slow to start for the discovery, or is a newer one than the last time.
    if (is_modern_failure(answer) && (co_await discover(stop)).empty() && era_ == McpEra::modern) co_return "";
    co_return answer.failure();
  }
  const auto version = text_of(answer.result, "protocolVersion");
  if (std::ranges::find(mcp_legacy_versions, version) == mcp_legacy_versions.end()) {
    co_return fmt::format("it speaks a revision of MCP that this gateway does not: {}", to_utf8(version.substr(0, 40)));
  }
  transport_->speak(McpEra::legacy, version);
  co_await transport_->notify("notifications/initialized", {});
  take_capabilities(answer.result);
  transport_->listen();  // for changes, and for what the server asks
  co_return "";
}

void McpSession::take_capabilities(const json::object& result) {
  const auto capabilities = object_of(result, "capabilities");
  has_tools_ = capabilities.contains("tools");
  tells_changes_ = is_true(object_of(capabilities, "tools"), "listChanged");
}

Task<RpcAnswer> McpSession::ask(RpcRequest request, Stop& stop) {
  if (era_ == McpEra::modern) request.params["_meta"] = modern_meta();
  co_return co_await transport_->ask(std::move(request), stop);
}

Task<std::string> McpSession::list_tools(Stop& stop) {
  const auto before = std::exchange(tools_, {});
  std::string cursor;
  for (int page = 0; has_tools_ && page < most_pages && tools_.size() < most_tools; ++page) {
    json::object params;
    if (!cursor.empty()) params["cursor"] = cursor;
    const auto answer =
        co_await ask({.method = "tools/list", .params = std::move(params), .limit = handshake_limit}, stop);
    if (!answer.succeeded()) {
      tools_ = before;
      co_return "its tools cannot be listed: " + answer.failure();
    }
    if (const auto* tools = array_member(answer.result, "tools")) {
      for (const auto& tool : *tools) take_tool(tool);
    }
    cursor = string_member(answer.result, "nextCursor").value_or("");
    if (cursor.empty()) break;
  }
  co_return "";
}

void McpSession::take_tool(const json::value& value) {
  if (!value.is_object() || tools_.size() == most_tools) return;
  const auto& members = value.get_object();
  const auto name = text_of(members, "name");
  const bool is_known = std::ranges::find(tools_, name, &OfferedTool::name) != tools_.end();
  if (!is_tool_name(name)) return tell_left_out(name);
  if (is_known) {
    log::debug("integration {}: passed over a tool with a doubled name", name_);
    return;
  }
  auto description =
      std::string(string_member(members, "description").value_or(string_member(members, "title").value_or("")));
  if (description.size() > longest_description) description = to_utf8(description.substr(0, longest_description));
  const auto* schema = object_member(members, "inputSchema");
  const bool is_deep = schema && nests_deeper(members.at("inputSchema"), max_json_depth);
  const bool is_usable = schema && !is_deep && to_json(*schema).size() <= longest_schema;
  if (!is_usable) {
    log::debug("integration {}: the schema of {} is missing, too large or too deep and not shown", name_, name);
  }
  tools_.push_back({name, std::move(description), is_usable ? *schema : json::object{{"type", "object"}}});
}

/// Once for each name, as servers list their tools again and again.
void McpSession::tell_left_out(const std::string& name) {
  const auto shown = to_json(json::value(to_utf8(name.substr(0, longest_tool_name))));
  if (told_left_out_.size() == most_told || !told_left_out_.insert(shown).second) return;
  log::warn("integration {}: the tool {} is left out, as a name has 1 to {} letters, digits, '_', '-', '.' and '/'",
            name_, shown, longest_tool_name);
}

Task<std::string> McpSession::live(Stop& stop, std::function<void()> tools_changed) {
  std::string why;
  Stop over;
  Stop::Listener when_stopped(stop, [&] { over.request(); });
  Group group(loop_);
  if (era_ == McpEra::modern && tells_changes_) group.spawn(subscribe(over));
  group.spawn([](McpSession& self, Stop& ending, std::function<void()> changed) -> Task<> {
    while (!ending.requested()) {
      co_await self.follow_changes(ending);
      if (!ending.requested()) changed();
    }
  }(*this, over, std::move(tools_changed)));
  const auto wait = [](McpTransport& transport, std::string& cause) -> Task<> { cause = co_await transport.dead(); };
  co_await cut(stop, no_limit, wait(*transport_, why));
  over.request();
  co_await group.join();
  co_return why;
}

/// The next listing, once the server says that there is something new. A server that says so without end is not
/// followed as fast.
Task<> McpSession::follow_changes(Stop& stop) {
  if (co_await cut(stop, no_limit, tools_changed_.wait()) != End::done) co_return;
  tools_changed_.reset();
  const auto problem = co_await list_tools(stop);
  if (!problem.empty() && !stop.requested()) log::warn("integration {}: {}", name_, problem);
  co_await pause(stop, between_listings);
}

Task<> McpSession::subscribe(Stop& stop) {
  while (!stop.requested()) {
    const auto answer = co_await ask({.method = "subscriptions/listen",
                                      .params = {{"notifications", json::object{{"toolsListChanged", true}}}},
                                      .limit = subscription_limit},
                                     stop);
    if (answer.error) co_return;
    co_await pause(stop, 10s);
  }
}

const json::object* McpSession::schema_of(const std::string& tool) const {
  const auto found = std::ranges::find(tools_, tool, &OfferedTool::name);
  return found == tools_.end() ? nullptr : &found->input_schema;
}

Task<McpSession::Called> McpSession::call(std::string tool, json::object arguments, Stop& stop) {
  RpcRequest request{.method = "tools/call", .limit = call_limit};
  if (era_ == McpEra::modern) request.headers = headers_of(schema_of(tool), arguments);
  request.params = {{"name", tool}, {"arguments", std::move(arguments)}};
  const auto answer = co_await ask(std::move(request), stop);
  Called called{.session_lost = answer.session_lost};
  called.outcome = answer.succeeded() ? tool_outcome(answer.result) : failed(answer.failure());
  co_return called;
}

}  // namespace agw
