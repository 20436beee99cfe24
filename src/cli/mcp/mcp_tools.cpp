#include "cli/mcp/mcp_tools.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/client/conversation.hpp"

namespace agw::cli {

namespace {

/// Endpoints that grant access: never offered as tools.
constexpr std::array<std::string_view, 1> never = {"pair"};
/// In addition to reading tools.
constexpr std::array<std::string_view, 2> always = {"post_run_job", "post_chat_stop"};
/// `chat` replaces it and waits for the answer; `propose` fills in its agent itself.
constexpr std::array<std::string_view, 2> replaced = {"post_chat", "post_propose"};

constexpr auto chat_tool = R"({
  "name": "chat", "title": "Chat",
  "description": "Say something to an agent of the gateway and wait for its answer",
  "inputSchema": {"type": "object", "required": ["message"], "properties": {
    "message": {"type": "string", "description": "What to say"},
    "agent": {"type": "string", "description": "Who answers, by name or id; default: the thread's agent, or assistant"},
    "thread": {"type": "string", "description": "The id of a thread to continue; default: a new one"},
    "model": {"type": "string", "description": "The model that answers, such as openai/gpt-5"},
    "mode": {"type": "string", "enum": ["plan", "act"], "description": "What the thread is set to first"}}},
  "annotations": {"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}})";

constexpr auto propose_tool = R"({
  "name": "propose", "title": "Propose a change",
  "description": "Stage a change that a person then applies or rejects. Nothing else is touched",
  "inputSchema": {"type": "object", "required": ["type", "title", "target", "content"], "properties": {
    "type": {"type": "string", "enum": ["soul", "extension", "file", "knowledge"]},
    "title": {"type": "string", "description": "A line that says what it does"},
    "target": {"type": "string", "description": "The file to change, absolute or relative to the data directory"},
    "content": {"type": "string", "description": "The whole new content of the target"},
    "reason": {"type": "string", "description": "Why"}}},
  "annotations": {"readOnlyHint": false, "destructiveHint": false}})";

std::optional<std::string> given_text(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_string()) throw std::runtime_error(fmt::format("{} must be a string", name));
  return std::string(value->get_string());
}

bool has_tag(const json::object& tool, std::string_view tag) {
  const auto& tags = tool.at("tags").as_array();
  return std::ranges::any_of(tags, [&](const json::value& one) { return one.is_string() && one.get_string() == tag; });
}

json::object as_mcp(const json::object& tool) {
  const auto& method = tool.at("tool_call_template").as_object().at("http_method").as_string();
  return {{"name", tool.at("name")},
          {"title", tool.at("description")},
          {"description", tool.at("description")},
          {"inputSchema", tool.at("inputs")},
          {"annotations", json::object{{"readOnlyHint", has_tag(tool, "read")},
                                       {"destructiveHint", method == "DELETE"},
                                       {"idempotentHint", method != "POST"}}}};
}

/// Builds the request from a call template and an input. Members that are neither in the path nor the body become the
/// query.
struct Call {
  std::string method;
  std::string path;
  std::string body;
};

Call call_of(const json::object& tool, json::object given) {
  json::object input;
  for (const auto& member : given) {
    if (!member.value().is_null()) input.insert(member);
  }
  const auto& parts = tool.at("tool_call_template").as_object();
  Call call{.method = string_or_empty(parts, "http_method"), .path = {}, .body = {}};
  const auto url = string_or_empty(parts, "url");
  std::vector<std::string> segments;
  std::istringstream rest(url.substr(url.find('/', url.find("://") + 3) + 1));
  for (std::string segment; std::getline(rest, segment, '/');) {
    if (segment.starts_with('{') && segment.ends_with('}')) {
      const auto name = segment.substr(1, segment.size() - 2);
      const auto* value = input.if_contains(name);
      if (!value) throw std::runtime_error(name + " is required");
      segment = text_or_json(*value);
      input.erase(name);
    }
    segments.push_back(segment);
  }
  if (const auto* body = input.if_contains("body"); body && parts.contains("body_field")) {
    call.body = to_json(*body);
    input.erase("body");
  }
  Parameters parameters;
  for (const auto& member : input) parameters.emplace_back(member.key(), text_or_json(member.value()));
  call.path = path(segments, parameters);
  return call;
}

}  // namespace

McpTools::McpTools(Loop& loop, std::optional<std::string> data_dir, bool all)
    : loop_(loop), data_dir_(std::move(data_dir)), all_(all) {}

Task<std::vector<json::object>> McpTools::manual(const FoundGateway& gateway) const {
  const auto manual = co_await Client(gateway).get("/utcp");
  std::vector<json::object> tools;
  for (const auto& tool : manual.as_object().at("tools").as_array()) {
    if (is_offered(tool.as_object())) tools.push_back(tool.as_object());
  }
  co_return tools;
}

bool McpTools::is_offered(const json::object& tool) const {
  const auto name = string_or_empty(tool, "name");
  if (std::ranges::any_of(never, [&](std::string_view tag) { return has_tag(tool, tag); })) return false;
  if (std::ranges::find(replaced, name) != replaced.end()) return false;
  return all_ || has_tag(tool, "read") || std::ranges::find(always, name) != always.end();
}

Task<json::array> McpTools::list() const {
  const auto gateway = find_gateway(data_dir_);
  json::array tools{parse_json(chat_tool).value(), parse_json(propose_tool).value()};
  for (const auto& tool : co_await manual(gateway)) tools.emplace_back(as_mcp(tool));
  co_return tools;
}

Task<std::optional<McpTools::Result>> McpTools::call(std::string name, json::object input, StopSource& stop,
                                                     Asker* asker) const {
  try {
    if (name == "chat") co_return Result{co_await chat(std::move(input), stop, asker)};
    if (name == "propose") co_return Result{co_await propose(std::move(input))};
    const auto gateway = find_gateway(data_dir_);
    for (const auto& tool : co_await manual(gateway)) {
      if (string_or_empty(tool, "name") != name) continue;
      auto wanted = call_of(tool, std::move(input));
      co_return Result{co_await Client(gateway).ask(wanted.method, wanted.path, wanted.body)};
    }
  } catch (const std::exception& error) {
    co_return Result{error.what(), true};
  }
  co_return std::nullopt;
}

Task<std::string> McpTools::chat(json::object input, StopSource& stop, Asker* asker) const {
  auto message = given_text(input, "message").value_or("");
  if (message.empty()) throw std::runtime_error("message is required");
  std::ostringstream said;
  std::ostringstream notes;
  AnswerPrinter printer(said, {}, notes, {});
  Conversation conversation(loop_,
                            {.message = {},
                             .agent = given_text(input, "agent"),
                             .thread = given_text(input, "thread"),
                             .model = given_text(input, "model"),
                             .mode = given_text(input, "mode"),
                             .data_dir = data_dir_},
                            printer, asker);
  const StopSource::Listener listener(stop, [&conversation] { conversation.abandon(); });
  const auto outcome = co_await conversation.say(std::move(message));
  if (stop.requested() && conversation.thread_id()) {
    const auto gateway = find_gateway(data_dir_);
    co_await Client(gateway).post("/chat/stop", {{"threadId", *conversation.thread_id()}});
  }
  if (outcome == StreamedAnswer::Outcome::failed) throw std::runtime_error(notes.str() + said.str());
  co_return said.str() + fmt::format("\n(thread {})", conversation.thread_id().value_or(""));
}

Task<std::string> McpTools::propose(json::object input) const {
  const auto gateway = find_gateway(data_dir_);
  input["agent"] = "mcp";
  const auto staged = co_await Client(gateway).post("/propose", std::move(input));
  co_return fmt::format("staged as proposal {}/{}/{}", string_or_empty(staged, "agent"),
                        string_or_empty(staged, "date"), string_or_empty(staged, "name"));
}

}  // namespace agw::cli
