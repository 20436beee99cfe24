#include <algorithm>
#include <utility>

#include "base/json/json_values.hpp"
#include "models/adjustments.hpp"
#include "models/call_features.hpp"
#include "models/json_reader.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

json::object user_message(Message message) {
  leave_out_documents(message);
  json::object object{{"role", "user"}, {"content", message.text}};
  if (message.images.empty()) return object;
  json::array images;
  for (const auto& image : message.images) images.push_back(json::string(base64(image.bytes)));
  object["images"] = std::move(images);
  return object;
}

json::object assistant_message(const Message& message, bool with_blocks) {
  json::object object{{"role", "assistant"}, {"content", message.text}};
  if (with_blocks) {
    const auto* block = message.provider_blocks.front().if_object();
    // Programs that use Chat Completions send it back under the other name.
    const auto thinking = block ? text_member(*block, "thinking") : std::string_view();
    if (block) object["thinking"] = thinking.empty() ? text_member(*block, "reasoning_content") : thinking;
  }
  if (message.tool_uses.empty()) return object;
  json::array calls;
  for (const auto& use : message.tool_uses) {
    calls.push_back(json::object{
        {"id", use.id},
        {"function", json::object{{"index", calls.size()}, {"name", use.name}, {"arguments", use.input}}},
    });
  }
  object["tool_calls"] = std::move(calls);
  return object;
}

json::object tool_message(const Message& message) {
  return {{"role", "tool"},
          {"tool_name", message.tool_name},
          {"tool_call_id", message.tool_call_id},
          {"content", result_text(message)}};
}

class OllamaReader : public AnswerReader {
public:
  using AnswerReader::AnswerReader;

private:
  void read_object(std::string_view, const json::object& line) override {
    if (const auto* message = object_member(line, "message")) read_message(*message);
    if (!is_true(line, "done")) return;
    if (text_member(line, "done_reason") == "length") reply_.stop = StopReason::length;
    reply_.usage.input_tokens = count_member(line, "prompt_eval_count").value_or(0);
    reply_.usage.output_tokens = count_member(line, "eval_count").value_or(0);
    complete_ = ended_ = true;
  }

  void read_message(const json::object& message) {
    returnable_reasoning(text_member(message, "thinking"));
    tagged_text(text_member(message, "content"));
    const auto* calls = array_member(message, "tool_calls");
    if (!calls) return;
    for (const auto& call : *calls) {
      if (const auto* object = call.if_object()) add_call(*object);
    }
  }

  /// Calls arrive complete, so each is a new one, regardless of its index.
  void add_call(const json::object& call) {
    const auto* function = object_member(call, "function");
    if (!function) return;
    const auto* arguments = function->if_contains("arguments");
    const auto text = arguments ? text_or_json(*arguments) : std::string();
    calls_.add(static_cast<std::int64_t>(calls_.size()), text_member(call, "id"), text_member(*function, "name"), text);
  }

  void finish() override {
    if (!thoughts_.empty()) reply_.provider_blocks.push_back(json::object{{"thinking", thoughts_}});
  }
};

class OllamaFormat : public WireFormat {
public:
  explicit OllamaFormat(ProviderSettings settings) : settings_(std::move(settings)) {}

  std::string url(std::string_view model) const override {
    return service_url(settings_.base_url, settings_.base_url.ends_with("/api") ? "/chat" : "/api/chat", model);
  }

  std::vector<HttpHeader> headers() const override {
    if (settings_.api_key.empty()) return {};
    return {{"authorization", "Bearer " + settings_.api_key}};
  }

  json::object request(const ModelRequest& request) const override {
    const auto& chosen = request.options;
    json::object options;
    if (chosen.limits_output) options["num_predict"] = request.max_output_tokens;
    options["num_ctx"] = context_window(request.model);
    if (chosen.top_p) options["top_p"] = *chosen.top_p;
    if (chosen.top_k) options["top_k"] = *chosen.top_k;
    if (chosen.seed) options["seed"] = *chosen.seed;
    if (chosen.frequency_penalty) options["frequency_penalty"] = *chosen.frequency_penalty;
    if (chosen.presence_penalty) options["presence_penalty"] = *chosen.presence_penalty;
    for (const auto& [name, neutral, own_name] : sampling_labels) {
      const auto* value = own_name.empty() ? nullptr : chosen.labels.if_contains(name);
      if (value) options[own_name] = *value;
    }
    if (!chosen.stop.empty()) options["stop"] = json::array(chosen.stop.begin(), chosen.stop.end());
    if (request.temperature) options["temperature"] = *request.temperature;
    // Otherwise Ollama silently cuts off the beginning of a prompt that is too long.
    json::object body{{"model", request.model}, {"stream", true}, {"truncate", false}, {"options", std::move(options)}};
    const bool uses_tools = !chosen.tool_choice || chosen.tool_choice->kind != ToolChoice::Kind::none;
    if (!request.tools.empty() && uses_tools) body["tools"] = function_tools(request.tools);
    if (const auto& format = chosen.response_format) {
      body["format"] = format->kind == ResponseFormat::Kind::json_object ? json::value("json") : format->schema;
    }
    if (const auto effort = reasoning_effort(chosen)) {
      const bool is_level = *effort == "low" || *effort == "medium" || *effort == "high";
      body["think"] = is_level ? json::value(*effort) : json::value(*effort != "none");
    }
    body["messages"] = messages(request);
    return body;
  }

  bool adjust(json::object& request, const ProviderError& error) const override {
    auto& messages = request["messages"].get_array();
    if (error.mentions("alternate")) return join_messages(messages) || move_prompt_to_user(messages);
    // Thinking of most models is on or off, without levels.
    auto* think = request.if_contains("think");
    if (!think || !error.mentions("think")) return false;
    if (!think->is_string() || error.mentions("does not support thinking")) return request.erase("think") > 0;
    *think = true;
    return true;
  }

  std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const override {
    return std::make_unique<OllamaReader>(on_delta);
  }

  std::unique_ptr<FrameSplitter> splitter(char, OnFrame on_frame) const override {
    return split_lines(std::move(on_frame));
  }

private:
  /// The window in the service's definition takes precedence.
  std::int64_t context_window(std::string_view model) const {
    const auto entry = std::ranges::find(settings_.models, model, &ModelEntry::id);
    return entry == settings_.models.end() ? ollama_context_window
                                           : entry->context_window.value_or(ollama_context_window);
  }

  json::array messages(const ModelRequest& request) const {
    json::array messages;
    if (!request.system.empty()) messages.push_back(json::object{{"role", "system"}, {"content", request.system}});
    for (const auto& message : request.messages) {
      switch (message.role) {
        case Message::Role::user:
          messages.push_back(user_message(message));
          break;
        case Message::Role::system:
          messages.push_back(json::object{{"role", "user"}, {"content", reminder_text(message.text)}});
          break;
        case Message::Role::assistant:
          messages.push_back(assistant_message(message, can_resend_blocks(message, settings_.name, request.model)));
          break;
        case Message::Role::tool:
          messages.push_back(tool_message(message));
      }
    }
    return messages;
  }

  ProviderSettings settings_;
};

}  // namespace

std::unique_ptr<WireFormat> ollama_format(ProviderSettings settings) {
  return std::make_unique<OllamaFormat>(complete(std::move(settings)));
}

}  // namespace agw
