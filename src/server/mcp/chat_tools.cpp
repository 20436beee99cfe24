#include "server/mcp/chat_tools.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/elicitation.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr std::string_view ask_prefix = "ask_";
constexpr std::size_t state_bytes = 16;

constexpr auto chat_properties = R"({
    "message": {"type": "string", "description": "What to say"},
    "thread": {"type": "string", "description": "The id of a thread to continue; default: a new one"},
    "model": {"type": "string", "description": "The model that answers, such as openai/gpt-5"},
    "mode": {"type": "string", "enum": ["plan", "act"], "description": "What the thread is set to first"}})";

json::object chat_tool_of(std::string name, std::string title, std::string description, json::object properties) {
  return {
      {"name", std::move(name)},
      {"title", std::move(title)},
      {"description", std::move(description)},
      {"inputSchema",
       json::object{{"type", "object"}, {"required", json::array{"message"}}, {"properties", std::move(properties)}}},
      {"annotations", json::object{{"readOnlyHint", false}, {"destructiveHint", false}, {"openWorldHint", true}}}};
}

std::optional<std::string> text_argument(const json::object& input, std::string_view name) {
  const auto* value = input.if_contains(name);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_string()) throw ToolFailure(fmt::format("{} must be a string", name));
  return std::string(value->get_string());
}

/// The agent in the name of the tool `ask_<agent>`.
std::string_view agent_in(std::string_view tool) {
  return tool.starts_with(ask_prefix) ? tool.substr(ask_prefix.size()) : std::string_view();
}

json::object unparsed_result(const std::string& text, bool is_error) {
  return {{"content", json::array{json::object{{"type", "text"}, {"text", to_utf8(text)}}}}, {"isError", is_error}};
}

}  // namespace

json::object text_result(const std::string& text) {
  auto result = unparsed_result(text, false);
  // Structured content must be an object. Without any, Gemini CLI reads JSON from the text, and refuses a list.
  if (auto parsed = parse_json(text, {.max_depth = max_own_json_depth}))
    result["structuredContent"] =
        parsed->is_object() ? *std::move(parsed) : json::object{{"result", *std::move(parsed)}};
  return result;
}

json::object error_result(const std::string& problem) { return unparsed_result(problem, true); }

ChatTools::ChatTools(Loop& loop, Hub& hub, const Extensions& extensions, const ApiCaller& api, StopRun stop_run)
    : loop_(loop), hub_(hub), extensions_(extensions), api_(api), stop_run_(std::move(stop_run)) {}

json::array ChatTools::list() const {
  auto properties = parse_json(chat_properties)->as_object();
  auto with_agent = properties;
  with_agent["agent"] = json::object{
      {"type", "string"}, {"description", "Who answers, by name or id; default: the thread's agent, or assistant"}};
  json::array tools{chat_tool_of("chat", "Chat", "Say something to an agent of the gateway and wait for its answer",
                                 std::move(with_agent))};
  for (const auto& agent : extensions_.list({.type = ExtensionType::agent, .enabled = true})) {
    tools.emplace_back(chat_tool_of(
        std::string(ask_prefix) + agent->name, "Ask " + agent->name,
        fmt::format("Ask the agent {} and wait for its answer. {}", agent->name, agent->description), properties));
  }
  return tools;
}

bool ChatTools::has(std::string_view name) const {
  if (name == "chat") return true;
  const auto agent = agent_in(name).empty() ? nullptr : extensions_.find_agent(agent_in(name));
  return agent && agent->enabled && agent->name == agent_in(name);
}

Task<std::optional<json::object>> ChatTools::call(McpExchangePointer exchange) {
  auto chat = co_await chat_of(exchange);
  co_return co_await follow(std::move(chat), exchange);
}

/// The chat that the request continues, or a new one.
Task<std::shared_ptr<AgentChat>> ChatTools::chat_of(McpExchangePointer exchange) {
  const auto state = exchange->is_modern ? string_member(exchange->params, "requestState") : std::nullopt;
  if (!state) {
    auto chat = std::make_shared<AgentChat>(loop_, hub_, api_, exchange->can("elicitation"));
    co_await chat->begin(message_of(*exchange));
    co_return chat;
  }
  const auto found = waiting_.find(*state);
  if (found == waiting_.end() || found->second.tool != string_member(exchange->params, "name"))
    throw McpError(rpc_code::invalid_params, "unknown or expired requestState: call the tool again without it");
  auto chat = std::move(found->second.chat);
  waiting_.erase(found);
  co_await take_answers(chat, *exchange);
  co_return chat;
}

AgentMessage ChatTools::message_of(const McpExchange& exchange) const {
  const auto input = object_or_empty(exchange.params, "arguments");
  const auto tool = string_or_empty(exchange.params, "name");
  auto text = text_argument(input, "message").value_or("");
  if (text.empty()) throw ToolFailure("message is required");
  const auto agent = agent_in(tool);
  return {.text = std::move(text),
          .agent = agent.empty() ? text_argument(input, "agent") : std::optional(std::string(agent)),
          .thread = text_argument(input, "thread"),
          .model = text_argument(input, "model"),
          .mode = text_argument(input, "mode")};
}

Task<> ChatTools::take_answers(std::shared_ptr<AgentChat> chat, const McpExchange& exchange) {
  const auto answers = object_or_empty(exchange.params, "inputResponses");
  for (const auto& answer : answers) {
    const auto asked = chat->find_asked(answer.key());
    if (!asked || !answer.value().is_object()) continue;
    const auto id = string_or_empty(asked->request, "id");
    co_await chat->decide(id, decision_of(asked->request, answer.value().get_object()));
  }
}

Task<std::optional<json::object>> ChatTools::follow(std::shared_ptr<AgentChat> chat, McpExchangePointer exchange) {
  for (;;) {
    const auto step = co_await chat->next(exchange->stop);
    if (!step) {
      stop_run_(chat->thread_id(), chat->turn_id());
      co_return std::nullopt;
    }
    if (*step == AgentChat::Step::ended) co_return text_result(chat->answer());
    if (*step == AgentChat::Step::said) {
      const auto updates = chat->take_updates();
      AGW_ASSERT(!updates.text.empty() || !updates.notes.empty());
      for (const auto& note : updates.notes) exchange->log("info", note);
      const auto size = static_cast<double>(updates.text.size() + updates.notes.size());
      exchange->report_progress(size, updates.text.empty() ? updates.notes.back() : updates.text);
    } else if (exchange->is_modern) {
      co_return input_required(std::move(chat), *exchange);
    } else {
      co_await ask(chat, exchange);
    }
  }
}

Task<> ChatTools::ask(std::shared_ptr<AgentChat> chat, McpExchangePointer exchange) {
  AGW_ASSERT(exchange->session);
  const auto asked = chat->asked();
  const auto result =
      co_await exchange->session->ask(exchange, "elicitation/create", elicitation_of(asked->request), asked->decided);
  if (asked->decided.requested() || exchange->stop.requested()) co_return;
  const auto id = string_or_empty(asked->request, "id");
  co_await chat->decide(id, decision_of(asked->request, result.value_or(json::object())));
}

json::object ChatTools::input_required(std::shared_ptr<AgentChat> chat, const McpExchange& exchange) {
  const auto& request = chat->asked()->request;
  json::object requests{{string_or_empty(request, "id"),
                         json::object{{"method", "elicitation/create"}, {"params", elicitation_of(request)}}}};
  if (waiting_.size() >= max_waiting) {
    waiting_.erase(std::ranges::min_element(waiting_, {}, [](const auto& one) { return one.second.since; }));
  }
  const auto state = random_hex(state_bytes);
  AGW_ASSERT(waiting_.size() < max_waiting);
  waiting_[state] = {.tool = string_or_empty(exchange.params, "name"), .chat = std::move(chat)};
  return {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}, {"requestState", state}};
}

void ChatTools::forget_abandoned() {
  std::erase_if(waiting_, [now = Clock::now()](const auto& one) { return now - one.second.since > patience; });
}

}  // namespace agw
