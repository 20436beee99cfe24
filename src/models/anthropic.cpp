// Anthropic's Messages API. The file has three parts, in this order: the request, built from a ModelRequest; the
// reader, which turns the frames of the response into deltas and an outcome; and the format, which combines the two
// (wire_format.hpp). Thinking blocks are kept unchanged, because the service checks their signatures.

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "models/adjustments.hpp"
#include "models/call_features.hpp"
#include "models/json_reader.hpp"
#include "models/large_pictures.hpp"
#include "models/picture.hpp"
#include "models/tool_schema.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

json::object cache_mark(const CallOptions& options) {
  json::object mark{{"type", "ephemeral"}};
  if (!options.cache_ttl.empty()) mark["ttl"] = options.cache_ttl;
  return mark;
}

json::object text_block(std::string_view text) { return {{"type", "text"}, {"text", text}}; }

json::object image_block(const Image& image) {
  return {{"type", image.mime == pdf_mime ? "document" : "image"},
          {"source", json::object{{"type", "base64"}, {"media_type", image.mime}, {"data", base64(image.bytes)}}}};
}

/// Ids of other services may contain characters that Anthropic rejects.
std::string tool_id(std::string id) {
  const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; };
  std::ranges::replace_if(id, std::not_fn(is_allowed), '_');
  return id;
}

json::object tool_use_block(const ToolUse& use) {
  return {{"type", "tool_use"}, {"id", tool_id(use.id)}, {"name", use.name}, {"input", use.input}};
}

json::object tool_result_block(const Message& message) {
  json::object block{
      {"type", "tool_result"}, {"tool_use_id", tool_id(message.tool_call_id)}, {"content", message.text}};
  if (message.is_error) block["is_error"] = true;
  return block;
}

/// The result of FindTools. The service replaces the references with the definitions.
json::object found_tools_block(const Message& message, const std::vector<const ToolDescription*>& tools) {
  auto block = tool_result_block(message);
  auto& content = block["content"].emplace_array();
  for (const auto* tool : tools) {
    content.push_back(json::object{{"type", "tool_reference"}, {"tool_name", tool->name}});
  }
  return block;
}

json::object definition_of(const ToolDescription& tool) {
  json::object made{{"name", tool.name}, {"description", tool.description}, {"input_schema", *tool.input_schema}};
  if (tool.strict) made["strict"] = *tool.strict;
  if (!tool.examples.empty()) made["input_examples"] = tool.examples;
  return made;
}

/// https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool: all models since Claude 4.
bool loads_tools(std::string_view base_url, std::string_view model) {
  const bool is_older =
      model.starts_with("claude-3") || model.starts_with("claude-2") || model.starts_with("claude-instant");
  return is_anthropic_service(base_url) && model.starts_with("claude-") && !is_older;
}

using Names = std::set<std::string, std::less<>>;

/// Turns the result of FindTools into a text, and adds the tools that it found to `names`.
void refer_by_name(json::value& content, Names& names) {
  std::string text = "You can call these tools now:";
  for (const auto& part : content.get_array()) {
    const auto name = text_member(part.as_object(), "tool_name");
    names.emplace(name);
    text.append(" ").append(name);
  }
  content = json::string(text);
}

/// For services that cannot load tools later: defines the tools to which the conversation refers in the request.
bool define_at_once(json::object& request) {
  auto* tools = request.if_contains("tools");
  if (!tools || !tools->is_array()) return false;
  Names referenced;
  for (auto& message : request["messages"].as_array()) {
    auto* blocks = message.as_object()["content"].if_array();
    if (!blocks) continue;
    for (auto& block : *blocks) {
      auto* parts = block.as_object().if_contains("content");
      if (parts && parts->is_array()) refer_by_name(*parts, referenced);
    }
  }
  json::array kept;
  for (auto& tool : tools->get_array()) {
    auto& members = tool.get_object();
    const bool was_deferred = members.erase("defer_loading") > 0;
    if (!was_deferred || referenced.contains(text_member(members, "name"))) kept.push_back(std::move(tool));
  }
  const bool is_less = kept.size() < tools->get_array().size();
  tools->get_array() = std::move(kept);
  return is_less || !referenced.empty();
}

/// Leaves out blank texts, which are rejected.
json::array user_content(const Message& message) {
  json::array content;
  for (const auto& part : parts_of(message)) {
    const auto* text = std::get_if<std::string_view>(&part);
    content.push_back(text ? text_block(*text) : image_block(*std::get<1>(part)));
  }
  return content;
}

bool is_thinking(const json::value& block) {
  const auto* object = block.if_object();
  const auto type = object ? text_member(*object, "type") : std::string_view();
  return type == "thinking" || type == "redacted_thinking";
}

json::array assistant_content(const Message& message, bool with_blocks) {
  json::array content;
  if (says_nothing(message)) return content;
  if (with_blocks) {
    for (const auto& block : message.provider_blocks) {
      if (is_thinking(block)) content.push_back(block);
    }
  }
  if (!is_invisible(message.text)) content.push_back(text_block(message.text));
  for (const auto& use : message.tool_uses) content.push_back(tool_use_block(use));
  return content;
}

/// Writes the messages as Anthropic requires: the user begins, and all tool results of a turn are in one user message.
class Messages {
public:
  explicit Messages(json::object mark) : cache_mark_(std::move(mark)) {}

  void add(std::string_view role, json::array content) {
    if (content.empty()) return;
    if (messages_.empty() && role != "user") add("user", {text_block("(The conversation continues.)")});
    if (messages_.empty() || role != role_) {
      messages_.push_back(json::object{{"role", role}, {"content", std::move(content)}});
      role_ = role;
      return;
    }
    auto& previous = messages_.back().get_object()["content"].get_array();
    for (auto& block : content) previous.push_back(std::move(block));
  }

  bool ends_with_user() const { return role_ == "user"; }

  /// Marks the last two messages of the user. The one before the last ended the previous request, so its part of the
  /// cache is found even after many tool calls.
  json::array finish() {
    int marks = 2;
    for (auto message = messages_.rbegin(); message != messages_.rend() && marks > 0; ++message) {
      auto& object = message->get_object();
      if (object["role"] != "user") continue;
      object["content"].get_array().back().get_object()["cache_control"] = cache_mark_;
      --marks;
    }
    return std::move(messages_);
  }

private:
  json::object cache_mark_;
  json::array messages_;
  std::string role_;
};

constexpr std::int64_t default_output_tokens = 8'192;
constexpr std::int64_t min_text_tokens = 4'096;
constexpr std::int64_t min_thinking_tokens = 1'024;  // the service's own
constexpr std::int64_t max_known_output_tokens = 1'000'000;

/// The service requires a limit. If the request has none, this is the model's own limit, or a default if that is
/// unknown.
std::int64_t required_limit(std::int64_t limit) {
  return limit > max_known_output_tokens ? default_output_tokens : limit;
}

json::object anthropic_tool_choice(const CallOptions& options) {
  json::object made{{"type", "auto"}};
  if (const auto& choice = options.tool_choice) {
    if (choice->kind == ToolChoice::Kind::none) made["type"] = "none";
    if (choice->kind == ToolChoice::Kind::required) made["type"] = "any";
    if (choice->kind == ToolChoice::Kind::named) made = {{"type", "tool"}, {"name", choice->name}};
  }
  if (options.parallel_tool_calls && made["type"] != "none") {
    made["disable_parallel_tool_use"] = !*options.parallel_tool_calls;
  }
  return made;
}

StopReason stop_of(std::string_view reason) {
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return StopReason::length;
  if (reason == "tool_use") return StopReason::tool_use;
  if (reason == "refusal") return StopReason::content_filter;
  return StopReason::stop;
}

class AnthropicReader : public AnswerReader {
public:
  using AnswerReader::AnswerReader;

private:
  void read_object(std::string_view, const json::object& frame) override {
    const auto type = text_member(frame, "type");
    if (type == "content_block_delta") return delta(frame);
    if (type == "content_block_start") return start_block(frame);
    if (type == "content_block_stop") return end_block(frame);
    if (type == "message_start") return start_message(frame);
    if (type == "message_delta") return end_message(frame);
    if (type == "message") return whole_message(frame);
    if (type == "message_stop") complete_ = ended_ = true;
  }

  void start_message(const json::object& frame) {
    if (const auto* message = object_member(frame, "message")) take_usage(*message);
  }

  void end_message(const json::object& frame) {
    if (const auto* change = object_member(frame, "delta")) {
      const auto reason = string_member(*change, "stop_reason");
      if (reason) reply_.stop = stop_of(*reason);
      complete_ = complete_ || reason;
      reply_.stop_sequence = text_member(*change, "stop_sequence");
    }
    take_usage(frame);
  }

  /// Counts are cumulative; some or all of them may be repeated.
  void take_usage(const json::object& object) {
    const auto* usage = object_member(object, "usage");
    if (!usage) return;
    auto& counted = reply_.usage;
    counted.input_tokens = count_member(*usage, "input_tokens").value_or(counted.input_tokens);
    counted.output_tokens = count_member(*usage, "output_tokens").value_or(counted.output_tokens);
    counted.cache_read_tokens = count_member(*usage, "cache_read_input_tokens").value_or(counted.cache_read_tokens);
    counted.cache_write_tokens =
        count_member(*usage, "cache_creation_input_tokens").value_or(counted.cache_write_tokens);
    const auto tier = text_member(*usage, "service_tier");
    service_tier(tier == "standard" ? "default" : tier);
  }

  void start_block(const json::object& frame) {
    if (const auto* block = object_member(frame, "content_block")) {
      take_block(count_member(frame, "index").value_or(0), *block);
    }
  }

  void end_block(const json::object& frame) {
    const auto block = thinking_.find(count_member(frame, "index").value_or(0));
    if (block != thinking_.end()) provider_block(block->second);
  }

  void take_block(std::int64_t index, const json::object& block) {
    const auto type = text_member(block, "type");
    if (type == "text") text(text_member(block, "text"));
    if (type == "thinking" || type == "redacted_thinking") {
      thinking_[index] = block;
      reasoning(text_member(block, "thinking"));
    }
    if (type == "tool_use") {
      const auto* input = object_member(block, "input");
      calls_.add(index, text_member(block, "id"), text_member(block, "name"),
                 input && !input->empty() ? to_json(*input) : std::string());
    }
  }

  void delta(const json::object& frame) {
    const auto* change = object_member(frame, "delta");
    if (!change) return;
    const auto index = count_member(frame, "index").value_or(0);
    const auto type = text_member(*change, "type");
    if (type == "text_delta") text(text_member(*change, "text"));
    if (type == "input_json_delta") calls_.add_arguments(index, text_member(*change, "partial_json"));
    if (type == "signature_delta") append(index, "signature", text_member(*change, "signature"));
    if (type == "thinking_delta") {
      append(index, "thinking", text_member(*change, "thinking"));
      reasoning(text_member(*change, "thinking"));
    }
  }

  void append(std::int64_t index, std::string_view member, std::string_view piece) {
    const auto block = thinking_.find(index);
    if (block == thinking_.end()) return;
    auto& value = block->second[member];
    if (!value.is_string()) value.emplace_string();
    value.get_string().append(piece);
  }

  /// Reads the response of a server that does not stream.
  void whole_message(const json::object& frame) {
    take_usage(frame);
    reply_.stop = stop_of(text_member(frame, "stop_reason"));
    if (const auto* content = array_member(frame, "content")) {
      for (std::int64_t index = 0; const auto& block : *content) {
        if (const auto* object = block.if_object()) take_block(index++, *object);
      }
    }
    complete_ = ended_ = true;
  }

  void finish() override {
    for (auto& [index, block] : thinking_) reply_.provider_blocks.push_back(std::move(block));
  }

  std::map<std::int64_t, json::object> thinking_;
};

class AnthropicFormat : public WireFormat {
public:
  explicit AnthropicFormat(ProviderSettings settings) : settings_(std::move(settings)) {}

  std::string url(std::string_view model) const override {
    return service_url(settings_.base_url, settings_.base_url.ends_with("/v1") ? "/messages" : "/v1/messages", model);
  }

  std::vector<HttpHeader> headers() const override {
    std::vector<HttpHeader> headers{{"anthropic-version", "2023-06-01"}};
    if (!settings_.api_key.empty()) headers.push_back({"x-api-key", settings_.api_key});
    return headers;
  }

  json::object request(const ModelRequest& request) const override {
    json::object body{{"model", request.model}, {"max_tokens", request.max_output_tokens}, {"stream", true}};
    if (!request.system.empty()) {
      auto block = text_block(request.system);
      block["cache_control"] = cache_mark(request.options);
      body["system"] = json::array{std::move(block)};
    }
    if (request.temperature) body["temperature"] = *request.temperature;
    add_options(body, request);
    if (!request.tools.empty()) body["tools"] = tools(request);
    body["messages"] = messages(request);
    return body;
  }

  bool adjust(json::object& request, const ProviderError& error) const override {
    if (error.mentions({"defer_loading", "tool_reference"})) return define_at_once(request);
    if (error.mentions("thinking") && error.mentions("adaptive") && request.contains("thinking")) {
      const auto& thinking = request["thinking"].get_object();
      if (text_member(thinking, "type") == "enabled") {
        think_adaptively(request, {.reasoning_budget = thinking.at("budget_tokens").to_number<std::int64_t>()});
        return true;
      }
    }
    if (error.mentions("image") && error.mentions("exceed")) return leave_out_large_pictures(request);
    if (error.mentions({"document", "PDF"}) && leave_out_documents(request)) return true;
    if (error.mentions("input_schema")) return mend_schemas(request, "input_schema", error.message);
    if (error.mentions("prefill"))
      return ask_to_continue(request["messages"].get_array(), json::array{text_block("Continue.")});
    if (error.mentions("role") && error.mentions("system")) return remind_as_user(request["messages"].get_array());
    for (const auto* name : {"temperature", "top_p", "top_k", "metadata"}) {
      if (error.mentions(name) && request.erase(name) > 0) return true;
    }
    return false;
  }

  std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const override {
    return std::make_unique<AnthropicReader>(on_delta);
  }

private:
  void add_options(json::object& body, const ModelRequest& request) const {
    const auto& options = request.options;
    if (!options.limits_output) body["max_tokens"] = required_limit(request.max_output_tokens);
    if (options.top_p) body["top_p"] = *options.top_p;
    if (options.top_k >= 0) body["top_k"] = *options.top_k;
    if (options.service_tier == "default") body["service_tier"] = "standard_only";
    if (!options.inference_geo.empty()) body["inference_geo"] = options.inference_geo;
    if (!options.user_id.empty()) body["metadata"] = json::object{{"user_id", options.user_id}};
    if (!options.stop.empty()) body["stop_sequences"] = json::array(options.stop.begin(), options.stop.end());
    if (options.response_format) {
      body["output_config"] =
          json::object{{"format", json::object{{"type", "json_schema"}, {"schema", options.response_format->schema}}}};
    }
    if (!request.tools.empty() && (options.tool_choice || options.parallel_tool_calls)) {
      body["tool_choice"] = anthropic_tool_choice(options);
    }
    const auto budget = reasoning_budget(options);
    if (budget && *budget > 0 && !continues_without_thoughts(request)) add_thinking(body, request, *budget);
  }

  /// Whether the request continues an answer with the results of its calls, but without its thoughts: other models have
  /// none that Claude accepts, and programs may not send them back. Claude then refuses a budget:
  /// https://platform.claude.com/docs/en/build-with-claude/extended-thinking#extended-thinking-with-tool-use
  bool continues_without_thoughts(const ModelRequest& request) const {
    if (request.model.find("claude-") == std::string::npos || thinks_adaptively(request.model)) return false;
    const auto& messages = request.messages;
    const auto answer = std::ranges::find(messages.rbegin(), messages.rend(), Message::Role::assistant, &Message::role);
    if (answer == messages.rend() || answer->tool_uses.empty()) return false;
    const bool has_thoughts = std::ranges::any_of(answer->provider_blocks, is_thinking);
    return !has_thoughts || !can_resend_blocks(*answer, settings_.name, request.model);
  }

  /// Thinking counts towards the limit.
  static void add_thinking(json::object& body, const ModelRequest& request, std::int64_t wanted) {
    const auto& options = request.options;
    auto limit = std::max(body["max_tokens"].to_number<std::int64_t>(), wanted + min_text_tokens);
    limit = std::min(limit, options.output_ceiling);
    body["max_tokens"] = limit;
    if (thinks_adaptively(request.model)) return think_adaptively(body, options);
    const bool fits = options.reasoning_budget && wanted < limit;
    const auto budget = fits ? wanted : std::min(wanted, limit - std::min(min_text_tokens, limit / 2));
    if (budget >= min_thinking_tokens) body["thinking"] = json::object{{"type", "enabled"}, {"budget_tokens", budget}};
  }

  /// Newer models choose the budget themselves. Without `display`, they keep their thoughts to themselves.
  static void think_adaptively(json::object& body, const CallOptions& options) {
    body["thinking"] = json::object{{"type", "adaptive"}, {"display", "summarized"}};
    auto& config = body["output_config"];
    if (config.is_null()) config.emplace_object();
    const auto effort = *reasoning_effort(options);
    config.get_object()["effort"] = effort == "minimal" ? "low" : effort;
  }

  /// Deferred tools come after the others and never change, so the cached prompt stays valid when one is found.
  json::array tools(const ModelRequest& request) const {
    json::array tools;
    if (!loads_tools(settings_.base_url, request.model)) {
      for (const auto& tool : request.tools) tools.push_back(definition_of(tool));
      tools.back().get_object()["cache_control"] = cache_mark(request.options);
      return tools;
    }
    std::set<std::string_view> defined;
    for (const auto* tool : tools_to_define(request)) {
      tools.push_back(definition_of(*tool));
      defined.insert(tool->name);
    }
    tools.back().get_object()["cache_control"] = cache_mark(request.options);
    if (!request.deferred_tools) return tools;
    for (const auto& tool : *request.deferred_tools) {
      if (defined.contains(tool.name)) continue;
      tools.push_back(definition_of(tool));
      tools.back().get_object()["defer_loading"] = true;
    }
    return tools;
  }

  json::array messages(const ModelRequest& request) const {
    Messages messages(cache_mark(request.options));
    for (const auto& message : request.messages) {
      const bool is_last = &message == &request.messages.back();
      switch (message.role) {
        case Message::Role::system: {
          const bool precedes_answer = is_last || (&message)[1].role == Message::Role::assistant;
          if (precedes_answer && messages.ends_with_user() && is_anthropic_service(settings_.base_url))
            messages.add("system", {text_block(message.text)});
          else
            messages.add("user", {text_block(reminder_text(message.text))});
          break;
        }
        case Message::Role::user:
          messages.add("user", user_content(message));
          break;
        case Message::Role::tool:
          messages.add("user", {result_block(message, request)});
          break;
        case Message::Role::assistant:
          messages.add("assistant",
                       assistant_content(message, can_resend_blocks(message, settings_.name, request.model)));
      }
    }
    return messages.finish();
  }

  json::object result_block(const Message& message, const ModelRequest& request) const {
    const auto found = referenced_tools(message, request.deferred_tools);
    if (found.empty() || !loads_tools(settings_.base_url, request.model)) return tool_result_block(message);
    return found_tools_block(message, found);
  }

  ProviderSettings settings_;
};

}  // namespace

std::unique_ptr<WireFormat> anthropic_format(ProviderSettings settings) {
  return std::make_unique<AnthropicFormat>(complete(std::move(settings)));
}

}  // namespace agw
