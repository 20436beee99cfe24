// Writes OpenAI's Chat Completions.

#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "features/client_api/chat_completions.hpp"

namespace agw {

namespace {

constexpr std::string_view done = "data: [DONE]\n\n";

std::string chat_event(const json::object& object) { return fmt::format("data: {}\n\n", to_json(object)); }

std::string_view chat_finish_reason(StopReason stop) {
  switch (stop) {
    case StopReason::length:
      return "length";
    case StopReason::tool_use:
      return "tool_calls";
    case StopReason::content_filter:
      return "content_filter";
    case StopReason::stop:
      break;
  }
  return "stop";
}

json::object chat_usage(const Usage& usage) {
  const auto prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return {{"prompt_tokens", prompt},
          {"completion_tokens", usage.output_tokens},
          {"total_tokens", prompt + usage.output_tokens},
          {"prompt_tokens_details", json::object{{"cached_tokens", usage.cache_read_tokens}, {"audio_tokens", 0}}},
          {"completion_tokens_details", json::object{{"reasoning_tokens", usage.reasoning_tokens},
                                                     {"audio_tokens", 0},
                                                     {"accepted_prediction_tokens", 0},
                                                     {"rejected_prediction_tokens", 0}}}};
}

json::array chat_calls(const std::vector<ToolUse>& uses) {
  json::array calls;
  for (const auto& use : uses) {
    calls.push_back(json::object{{"id", use.id},
                                 {"type", "function"},
                                 {"function", json::object{{"name", use.name}, {"arguments", use.arguments_text()}}}});
  }
  return calls;
}

class ChatCompletionWriter : public AnswerWriter {
public:
  explicit ChatCompletionWriter(bool includes_usage) : includes_usage_(includes_usage) {}

  std::string_view name_of(const CallFeature& feature) const override { return feature.chat; }

  std::string body(const ClientAnswer& answer) override {
    json::object message{{"role", "assistant"}, {"content", nullptr}, {"refusal", nullptr}};
    if (!answer.text.empty() || answer.tool_uses.empty()) message["content"] = answer.text;
    if (!answer.reasoning.empty()) message["reasoning_content"] = answer.reasoning;
    if (!answer.tool_uses.empty()) message["tool_calls"] = chat_calls(answer.tool_uses);
    message["annotations"] = json::array();
    auto object = head(answer, "chat.completion");
    object["choices"] = json::array{json::object{{"index", 0},
                                                 {"message", std::move(message)},
                                                 {"logprobs", nullptr},
                                                 {"finish_reason", chat_finish_reason(answer.stop)}}};
    object["usage"] = chat_usage(answer.usage);
    if (!answer.thread_id.empty()) object["metadata"] = json::object{{"thread_id", answer.thread_id}};
    return to_json(object);
  }

  std::string begin(const ClientAnswer& answer) override {
    return chunk(answer, {{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}});
  }

  std::string delta(const ClientAnswer& answer, const Delta& delta) override {
    switch (delta.kind) {
      case Delta::Kind::text:
        return chunk(answer, {{"content", delta.text}});
      case Delta::Kind::reasoning:
        return chunk(answer, {{"reasoning_content", delta.text}});
      case Delta::Kind::call:
        return chunk_of_call(answer, {{"index", delta.call},
                                      {"id", delta.id},
                                      {"type", "function"},
                                      {"function", json::object{{"name", delta.name}, {"arguments", ""}}}});
      case Delta::Kind::arguments:
        return chunk_of_call(answer, {{"index", delta.call}, {"function", json::object{{"arguments", delta.text}}}});
      case Delta::Kind::provider_block:
      case Delta::Kind::service_tier:
        break;
    }
    return {};
  }

  std::string end(const ClientAnswer& answer) override {
    auto events = chunk(answer, {}, chat_finish_reason(answer.stop));
    if (includes_usage_) {
      auto object = head(answer, "chat.completion.chunk");
      object["choices"] = json::array();
      object["usage"] = chat_usage(answer.usage);
      events += chat_event(object);
    }
    return events.append(done);
  }

  std::string fail(const ClientAnswer& /*answer*/, const ApiError& error) override {
    return fmt::format("data: {}\n\n{}", openai_error(error), done);
  }

private:
  static json::object head(const ClientAnswer& answer, std::string_view object) {
    const auto& tier = answer.service_tier;
    return {{"id", "chatcmpl-" + answer.id},
            {"object", object},
            {"created", answer.created},
            {"model", answer.model},
            {"service_tier", tier.empty() ? json::value() : json::value(tier)},
            {"system_fingerprint", nullptr}};
  }

  std::string chunk_of_call(const ClientAnswer& answer, json::object call) const {
    return chunk(answer, {{"tool_calls", json::array{std::move(call)}}});
  }

  std::string chunk(const ClientAnswer& answer, json::object delta, std::string_view finish_reason = {}) const {
    auto object = head(answer, "chat.completion.chunk");
    object["choices"] = json::array{
        json::object{{"index", 0},
                     {"delta", std::move(delta)},
                     {"logprobs", nullptr},
                     {"finish_reason", finish_reason.empty() ? json::value() : json::value(finish_reason)}}};
    if (includes_usage_) object["usage"] = nullptr;
    return chat_event(object);
  }

  const bool includes_usage_;
};

}  // namespace

std::unique_ptr<AnswerWriter> chat_completion_writer(bool includes_usage) {
  return std::make_unique<ChatCompletionWriter>(includes_usage);
}

}  // namespace agw
