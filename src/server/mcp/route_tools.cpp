#include "server/mcp/route_tools.hpp"

#include <array>
#include <sstream>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "server/documents/document_routes.hpp"

namespace agw {

namespace {

/// The tag of endpoints that grant access, which are never offered as tools.
constexpr std::string_view granting = "pair";
/// Grants access too, but has another tag; and only people change the settings of the gateway.
constexpr std::array<std::string_view, 2> for_people = {"post_channels_pair", "patch_configuration"};
/// Offered in addition to reading tools.
constexpr std::array<std::string_view, 2> executing = {"post_run_job", "post_chat_stop"};
/// The tool `chat` replaces the former and waits for the answer; the tool `propose` replaces the latter and fills in
/// its agent itself.
constexpr std::array<std::string_view, 2> replaced = {"post_chat", "post_propose"};

json::object shown_tool(const json::object& tool, std::string_view method) {
  return {{"name", tool.at("name")},
          {"title", tool.at("description")},
          {"description", tool.at("description")},
          {"inputSchema", tool.at("inputs")},
          {"annotations", json::object{{"readOnlyHint", lists_string(tool, "tags", "read")},
                                       {"destructiveHint", method == "DELETE"},
                                       {"idempotentHint", method != "POST"}}}};
}

std::vector<std::string> split_path(const std::string& url) {
  std::vector<std::string> segments;
  std::istringstream rest(url.substr(1));
  for (std::string segment; std::getline(rest, segment, '/');) segments.push_back(segment);
  return segments;
}

}  // namespace

const RouteTools::Tools& RouteTools::tools() const {
  if (!tools_.empty()) return tools_;
  const auto manual = utcp_manual(api_.routes(), "");
  for (const auto& entry : manual.at("tools").as_array()) {
    const auto& tool = entry.as_object();
    const auto name = string_or_empty(tool, "name");
    const bool is_for_people = lists_string(tool, "tags", granting) || contains(for_people, name);
    if (is_for_people || contains(replaced, name)) continue;
    const auto call = object_or_empty(tool, "tool_call_template");
    const auto method = string_or_empty(call, "http_method");
    AGW_ASSERT(!tools_.contains(name));
    tools_[name] = {.shown = shown_tool(tool, method),
                    .method = method,
                    .segments = split_path(string_or_empty(call, "url")),
                    .has_body = call.contains("body_field"),
                    .is_always_offered = lists_string(tool, "tags", "read") || contains(executing, name)};
  }
  return tools_;
}

json::array RouteTools::list(bool all) const {
  json::array list;
  for (const auto& [name, tool] : tools()) {
    if (all || tool.is_always_offered) list.emplace_back(tool.shown);
  }
  return list;
}

bool RouteTools::has(std::string_view name, bool all) const {
  const auto found = tools().find(name);
  return found != tools().end() && (all || found->second.is_always_offered);
}

/// Members that are neither in the path nor in the body become the query. Null counts as omitted.
ApiCall RouteTools::call_of(std::string_view name, json::object given) const {
  const auto found = tools().find(name);
  AGW_ASSERT(found != tools().end());
  const auto& tool = found->second;
  json::object input;
  for (auto& member : given) {
    if (!member.value().is_null()) input.emplace(member.key(), std::move(member.value()));
  }
  ApiCall call{.method = tool.method, .segments = {}};
  for (const auto& segment : tool.segments) {
    if (!segment.starts_with('{')) {
      call.segments.push_back(segment);
      continue;
    }
    const auto parameter = segment.substr(1, segment.size() - 2);
    const auto* value = input.if_contains(parameter);
    if (!value) throw ToolFailure(parameter + " is required");
    call.segments.push_back(text_or_json(*value));
    input.erase(parameter);
  }
  if (const auto* body = input.if_contains("body"); body && tool.has_body) {
    call.body = to_json(*body);
    input.erase("body");
  }
  for (const auto& member : input) call.parameters.emplace_back(member.key(), text_or_json(member.value()));
  return call;
}

}  // namespace agw
