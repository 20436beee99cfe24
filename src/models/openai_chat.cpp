// OpenAI's Chat Completions API and the variants of compatible services. The file has three parts, in this order: the
// request, built from a ModelRequest; the reader, which turns the frames of the response into deltas and an outcome;
// and the format, which combines the two (wire_format.hpp). Vendors differ in where they put thoughts, tool calls and
// errors. Each variant is recognized by its form, not by the vendor's name.

#include <algorithm>
#include <utility>

#include "base/json/json_values.hpp"
#include "models/adjustments.hpp"
#include "models/call_features.hpp"
#include "models/finish_reasons.hpp"
#include "models/json_reader.hpp"
#include "models/picture.hpp"
#include "models/reasoning_details.hpp"
#include "models/tool_schema.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

json::object chat_picture(const Image& image) {
  if (image.mime == pdf_mime)
    return {{"type", "file"}, {"file", json::object{{"filename", "document.pdf"}, {"file_data", data_url(image)}}}};
  json::object made{{"url", data_url(image)}};
  if (!image.detail.empty()) made["detail"] = image.detail;
  return {{"type", "image_url"}, {"image_url", std::move(made)}};
}

json::value chat_user_content(const Message& message) {
  if (message.images.empty()) return json::string(message.text);
  json::array content;
  for (const auto& part : parts_of(message)) {
    if (const auto* text = std::get_if<std::string_view>(&part)) {
      content.push_back(json::object{{"type", "text"}, {"text", *text}});
    } else {
      content.push_back(chat_picture(*std::get<1>(part)));
    }
  }
  return content;
}

json::object chat_user_message(const Message& message) {
  json::object object{{"role", "user"}, {"content", chat_user_content(message)}};
  if (!message.name.empty()) object["name"] = message.name;
  return object;
}

json::array tool_calls(const std::vector<ToolUse>& uses) {
  json::array calls;
  for (const auto& use : uses) {
    calls.push_back(json::object{
        {"id", use.id},
        {"type", "function"},
        {"function", json::object{{"name", use.name}, {"arguments", arguments_for_service(use)}}},
    });
  }
  return calls;
}

constexpr auto thoughts_member = "reasoning_content";
constexpr auto other_thoughts_member = "reasoning";  // of Groq, Ollama, and vLLM since 0.12
constexpr std::size_t max_id_size = 40;              // of a call's id at OpenAI

/// Adds the thoughts of an answer: one text, or OpenRouter's details. Blocks of other APIs are left out.
void add_thoughts(json::object& message, const json::array& blocks) {
  json::array details;
  for (const auto& block : blocks) {
    const auto* object = block.if_object();
    if (!object) continue;
    const auto type = text_member(*object, "type");
    const bool is_of_other_api = type == "reasoning" || type == "thinking" || type == "redacted_thinking";
    if (const auto* thoughts = object->if_contains(thoughts_member)) {
      message[thoughts_member] = *thoughts;
    } else if (const auto* other = object->if_contains(other_thoughts_member)) {
      message[other_thoughts_member] = *other;
    } else if (!is_of_other_api) {
      details.push_back(block);
    }
  }
  if (!details.empty()) message["reasoning_details"] = std::move(details);
}

json::object chat_assistant_message(const Message& message, bool with_blocks) {
  json::object object{{"role", "assistant"}, {"content", message.text}};
  if (!message.tool_uses.empty()) {
    if (message.text.empty()) object["content"] = nullptr;
    object["tool_calls"] = tool_calls(message.tool_uses);
  }
  if (with_blocks) add_thoughts(object, message.provider_blocks);
  if (!message.name.empty()) object["name"] = message.name;
  return object;
}

/// Calls `act` with each message of the request that contains tool calls.
template <class Act>
void for_each_calling(json::object& request, Act act) {
  for (auto& message : request["messages"].get_array()) {
    if (message.get_object().contains("tool_calls")) act(message.get_object());
  }
}

/// DeepSeek requires the thoughts of each message with tool calls, including empty ones and those of other models.
bool complete_thoughts(json::object& request) {
  bool changed = false;
  for_each_calling(request, [&](json::object& message) { changed |= message.emplace(thoughts_member, "").second; });
  return changed;
}

/// Some services return thoughts, and refuse them in all messages.
bool remove_thoughts(json::object& request) {
  bool changed = false;
  for (auto& message : request["messages"].get_array()) {
    for (const auto* name : {thoughts_member, other_thoughts_member}) changed |= message.get_object().erase(name) > 0;
  }
  return changed;
}

/// Gemini, behind OpenAI's API too, refuses calls without the signature of the thoughts before them. This is Google's
/// placeholder for calls that have none: https://ai.google.dev/gemini-api/docs/thought-signatures
bool sign_calls(json::object& request) {
  bool changed = false;
  for_each_calling(request, [&](json::object& message) {
    auto& call = message["tool_calls"].get_array().front().get_object();
    changed |=
        call.emplace("extra_content",
                     json::object{{"google", json::object{{"thought_signature", "skip_thought_signature_validator"}}}})
            .second;
  });
  return changed;
}

/// Some compatible servers reject the member `strict`.
bool remove_strict(json::object& request) {
  auto* tools = request.if_contains("tools");
  bool changed = false;
  if (!tools || !tools->is_array()) return false;
  for (auto& tool : tools->get_array()) changed |= tool.as_object()["function"].as_object().erase("strict") > 0;
  return changed;
}

Usage usage_of(const json::object& counted) {
  Usage usage;
  if (const auto* details = object_member(counted, "prompt_tokens_details")) {
    usage.cache_read_tokens = count_member(*details, "cached_tokens").value_or(0);
    usage.cache_write_tokens = count_member(*details, "cache_write_tokens").value_or(0);
  }
  // The names of DeepSeek and Moonshot for the count.
  for (const auto* name : {"prompt_cache_hit_tokens", "cached_tokens"}) {
    if (const auto hits = count_member(counted, name)) usage.cache_read_tokens = *hits;
  }
  const auto prompt = count_member(counted, "prompt_tokens").value_or(0);
  usage.input_tokens = std::max<std::int64_t>(0, prompt - usage.cache_read_tokens - usage.cache_write_tokens);
  usage.output_tokens = count_member(counted, "completion_tokens").value_or(0);
  if (const auto* details = object_member(counted, "completion_tokens_details")) {
    usage.reasoning_tokens = count_member(*details, "reasoning_tokens").value_or(0);
  }
  return usage;
}

json::value chat_tool_choice(const ToolChoice& choice) {
  switch (choice.kind) {
    case ToolChoice::Kind::none:
      return "none";
    case ToolChoice::Kind::required:
      return "required";
    case ToolChoice::Kind::named:
      return json::object{{"type", "function"}, {"function", json::object{{"name", choice.name}}}};
    case ToolChoice::Kind::automatic:
      break;
  }
  return "auto";
}

json::object chat_response_format(const ResponseFormat& format) {
  if (format.kind == ResponseFormat::Kind::json_object) return {{"type", "json_object"}};
  json::object schema{{"name", format.name}, {"schema", format.schema}};
  if (!format.description.empty()) schema["description"] = format.description;
  if (format.strict) schema["strict"] = *format.strict;
  return {{"type", "json_schema"}, {"json_schema", std::move(schema)}};
}

class ChatReader : public AnswerReader {
public:
  using AnswerReader::AnswerReader;

private:
  void read_object(std::string_view, const json::object& frame) override {
    service_tier(text_member(frame, "service_tier"));
    const auto* usage = object_member(frame, "usage");
    // Groq sends the counts here, and the reason if it breaks off.
    if (const auto* groq = object_member(frame, "x_groq")) {
      if (!usage) usage = object_member(*groq, "usage");
      if (const auto error = string_member(*groq, "error")) return fail(read_provider_error(json::value(*error)));
    }
    if (usage) take_usage(*usage);
    if (const auto* timings = object_member(frame, "timings")) take_timings(*timings);
    const auto* choices = array_member(frame, "choices");
    if (!choices) return look_for_error(frame);
    if (choices->empty()) return;
    if (const auto* choice = choices->front().if_object()) read_choice(*choice);
  }

  void take_usage(const json::object& usage) {
    if (usage.empty()) return;
    reply_.usage = usage_of(usage);
    has_usage_ = true;
  }

  /// Some services report errors without a status and the usual member: `msg`, `detail`, or MiniMax's `base_resp`.
  void look_for_error(const json::object& frame) {
    const auto* status = object_member(frame, "base_resp");
    auto error = read_provider_error(json::value(status ? *status : frame));
    if (error.has_message) notice_ = std::move(error);
  }

  /// llama.cpp reports the tokens read from its cache here and, if it sends no usage, the other counts too.
  void take_timings(const json::object& timings) {
    auto& usage = reply_.usage;
    const auto count = [&](std::string_view name) { return count_member(timings, name).value_or(0); };
    if (!has_usage_) {
      usage = {.input_tokens = count("prompt_n"), .output_tokens = count("predicted_n")};
      usage.cache_read_tokens = count("cache_n");
    } else if (usage.cache_read_tokens == 0) {
      usage.cache_read_tokens = std::min(count("cache_n"), usage.input_tokens);
      usage.input_tokens -= usage.cache_read_tokens;
    }
  }

  void read_choice(const json::object& choice) {
    if (const auto* error = error_in(choice)) return fail(read_provider_error(*error));
    // A server that does not stream sends `message`.
    const auto* delta = object_member(choice, "delta");
    streams_ = streams_ || delta;
    // After a stream, it repeats the answer.
    if (!delta && !streams_) delta = object_member(choice, "message");
    if (delta) read_delta(*delta);
    // Moonshot's place for the counts.
    if (const auto* usage = object_member(choice, "usage")) take_usage(*usage);
    if (const auto reason = text_member(choice, "finish_reason"); !reason.empty()) take_finish(reason);
  }

  void read_delta(const json::object& delta) {
    read_reasoning(delta);
    if (const auto* content = delta.if_contains("content")) parsed_content(*content);
    text(text_member(delta, "refusal"));
    if (const auto* calls = array_member(delta, "tool_calls")) read_calls(*calls);
    if (const auto* call = object_member(delta, "function_call")) add_call(0, {}, *call);
  }

  /// OpenRouter sends the same reasoning twice, as a text and as details.
  void read_reasoning(const json::object& delta) {
    auto piece = text_member(delta, thoughts_member);
    if (piece.empty()) {
      piece = text_member(delta, other_thoughts_member);
      if (!piece.empty()) thoughts_name_ = other_thoughts_member;
    }
    returnable_reasoning(piece);
    const auto* details = array_member(delta, "reasoning_details");
    if (!details) return;
    for (const auto& detail : *details) {
      const auto* object = detail.if_object();
      if (!object) continue;
      details_.add(*object);
      if (!piece.empty()) continue;
      reasoning(text_member(*object, "text"));
      reasoning(text_member(*object, "summary"));
    }
  }

  void parsed_content(const json::value& content) {
    if (content.is_string()) return tagged_text(content.get_string());
    if (!content.is_array()) return;
    for (const auto& part : content.get_array()) {
      if (const auto* object = part.if_object()) read_part(*object);
    }
  }

  /// Mistral's thoughts are parts of the content that contain further parts.
  void read_part(const json::object& part) {
    text(text_member(part, "text"));
    const auto* thoughts = array_member(part, "thinking");
    if (!thoughts) return;
    for (const auto& thought : *thoughts) {
      if (const auto* object = thought.if_object()) reasoning(text_member(*object, "text"));
    }
  }

  void read_calls(const json::array& calls) {
    for (std::int64_t position = 0; const auto& call : calls) {
      const auto* object = call.if_object();
      const auto* function = object ? object_member(*object, "function") : nullptr;
      if (function) add_call(count_member(*object, "index").value_or(position), text_member(*object, "id"), *function);
      ++position;
    }
  }

  void add_call(std::int64_t index, std::string_view id, const json::object& function) {
    const auto* arguments = function.if_contains("arguments");
    const auto whole = arguments && arguments->is_object() ? to_json(*arguments) : std::string();
    calls_.add(index, id, text_member(function, "name"), whole.empty() ? text_member(function, "arguments") : whole);
  }

  void take_finish(std::string_view reason) {
    if (is_breakdown(reason)) return fail(ProviderError{"the server reports: " + std::string(reason), {}, 0});
    if (is_of_length(reason)) reply_.stop = StopReason::length;
    if (is_of_filter(reason)) reply_.stop = StopReason::content_filter;
    complete_ = true;
  }

  /// Some servers never send a finish reason.
  void read_done_marker() override {
    complete_ = complete_ || ((wrote_text() || !calls_.empty()) && calls_.readable());
  }

  /// Thoughts before a call are sent back with it, because DeepSeek rejects the next request without them.
  void finish() override {
    reply_.provider_blocks = details_.take();
    const bool returns_thoughts = reply_.provider_blocks.empty() && !thoughts_.empty() && !calls_.empty();
    if (returns_thoughts) reply_.provider_blocks.push_back(json::object{{thoughts_name_, thoughts_}});
  }

  ReasoningDetails details_;
  const char* thoughts_name_ = thoughts_member;
  bool has_usage_ = false;
  bool streams_ = false;
};

class ChatFormat : public WireFormat {
public:
  explicit ChatFormat(ProviderSettings settings)
      : settings_(std::move(settings)), is_openai_service_(is_openai_service(settings_.base_url)) {}

  std::string url(std::string_view model) const override {
    return service_url(settings_.base_url, "/chat/completions", model);
  }

  std::vector<HttpHeader> headers() const override {
    if (settings_.api_key.empty()) return {};
    return {{"authorization", "Bearer " + settings_.api_key}};
  }

  json::object request(const ModelRequest& request) const override {
    json::object body{{"model", request.model}, {"stream", true}};
    body["stream_options"] = json::object{{"include_usage", true}};
    if (request.options.limits_output) {
      body[is_openai_service_ ? "max_completion_tokens" : "max_tokens"] = request.max_output_tokens;
    }
    if (request.temperature) body["temperature"] = *request.temperature;
    if (is_openai_service_ && !request.thread_id.empty()) body["prompt_cache_key"] = request.thread_id;
    if (!request.tools.empty()) body["tools"] = function_tools(request.tools);
    add_options(body, request.options);
    body["messages"] = messages(request);
    return body;
  }

  bool adjust(json::object& request, const ProviderError& error) const override {
    for (const auto rule : {adjust_reasoning, adjust_tools, adjust_limit, adjust_messages}) {
      if (const auto adjusted = rule(request, error)) return *adjusted;
    }
    return remove_options(request, error);
  }

  std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const override {
    return std::make_unique<ChatReader>(on_delta);
  }

private:
  /// Whether a rule adjusted the request. No value if the error has another reason.
  using Adjusted = std::optional<bool>;

  static Adjusted adjust_reasoning(json::object& request, const ProviderError& error) {
    // A model that cannot reason works without the member.
    const auto* effort = request.if_contains("reasoning_effort");
    const bool of_effort = error.mentions("reasoning_effort");
    if (of_effort && !error.mentions("tools") && effort && *effort == "none")
      return request.erase("reasoning_effort") > 0;
    // Reasoning models accept tools only with `none`. Their error message mentions other parameters too.
    if (of_effort && request.contains("tools")) return request.emplace("reasoning_effort", "none").second;
    if (error.mentions({thoughts_member, ".reasoning", "'reasoning'"}))
      return error.mentions({"passed back", "issing"}) ? complete_thoughts(request) : remove_thoughts(request);
    // The template of gpt-oss.
    if (error.mentions("content and thinking")) return remove_thoughts(request);
    return {};
  }

  static Adjusted adjust_tools(json::object& request, const ProviderError& error) {
    if (error.mentions({"chema", "function_declarations"}) && mend_schemas(request, "parameters", error.message))
      return true;
    if (error.mentions("description") && shorten_descriptions(request, error.message)) return true;
    if (error.mentions("with a length of 9")) return shorten_ids_to_nine(request);
    if (error.mentions("string too long") && error.mentions("tool_call")) return shorten_ids(request, max_id_size);
    if (error.mentions("thought_signature")) return sign_calls(request);
    if (error.mentions("strict")) return remove_strict(request);
    return {};
  }

  static Adjusted adjust_limit(json::object& request, const ProviderError& error) {
    const bool of_limit = error.mentions({"max_completion_tokens", "max_tokens"});
    const bool of_its_name = error.mentions({"supported", "instead", "nknown", "nrecognized", "not permitted"});
    if (of_limit && of_its_name) return switch_limit(request);
    return {};
  }

  static Adjusted adjust_messages(json::object& request, const ProviderError& error) {
    if (error.mentions({"type", "file", "ocument", "PDF"}) && leave_out_documents(request)) return true;
    // Templates of many models accept instructions only at the beginning.
    auto& messages = request["messages"].get_array();
    if (error.mentions({"ystem", "role"}) && remind_as_user(messages)) return true;
    if (error.mentions({"alternate", "after role"})) return join_messages(messages) || move_prompt_to_user(messages);
    if (error.mentions({"ystem role", "got system", "assistant roles"})) return move_prompt_to_user(messages);
    if (error.mentions("content") && error.mentions({"null", "be a string", "valid string"}))
      return fill_contents(messages);
    if (error.mentions({"prefill", "with a user message", "ast role"})) return ask_to_continue(messages, "Continue.");
    return {};
  }

  static bool remove_options(json::object& request, const ProviderError& error) {
    for (const auto* name : {"temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "stream_options",
                             "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "metadata", "user",
                             "chat_template_kwargs", "enable_thinking", "thinking_budget", "thinking"}) {
      if (error.mentions(name) && request.erase(name) > 0) return true;
    }
    return std::ranges::any_of(sampling_labels, [&](const auto& label) {
      return error.mentions(label.name) && request.erase(label.name) > 0;
    });
  }

  static void add_options(json::object& body, const CallOptions& options) {
    const bool has_tools = body.contains("tools");
    if (options.tool_choice && has_tools) body["tool_choice"] = chat_tool_choice(*options.tool_choice);
    if (options.parallel_tool_calls && has_tools) body["parallel_tool_calls"] = *options.parallel_tool_calls;
    if (options.response_format) body["response_format"] = chat_response_format(*options.response_format);
    if (options.top_p) body["top_p"] = *options.top_p;
    if (options.top_k) body["top_k"] = *options.top_k;
    if (options.seed) body["seed"] = *options.seed;
    if (options.frequency_penalty) body["frequency_penalty"] = *options.frequency_penalty;
    if (options.presence_penalty) body["presence_penalty"] = *options.presence_penalty;
    if (!options.stop.empty()) body["stop"] = json::array(options.stop.begin(), options.stop.end());
    if (const auto effort = reasoning_effort(options)) body["reasoning_effort"] = *effort;
    if (!options.verbosity.empty() && options.verbosity != "medium") body["verbosity"] = options.verbosity;
    add_labels(body, options);
  }

  /// Switches between the two names of the limit: some servers accept only one of them.
  static bool switch_limit(json::object& request) {
    const bool is_new = request.contains("max_completion_tokens");
    const auto* limit = request.if_contains(is_new ? "max_completion_tokens" : "max_tokens");
    if (!limit) return false;
    const json::value kept = *limit;
    request.erase(is_new ? "max_completion_tokens" : "max_tokens");
    request[is_new ? "max_tokens" : "max_completion_tokens"] = kept;
    return true;
  }

  json::array messages(const ModelRequest& request) const {
    json::array messages;
    messages.reserve(request.messages.size() + 1);
    if (!request.system.empty()) messages.push_back(json::object{{"role", "system"}, {"content", request.system}});
    for (const auto& message : request.messages) {
      switch (message.role) {
        case Message::Role::user:
          messages.push_back(chat_user_message(message));
          break;
        case Message::Role::system:
          messages.push_back(json::object{{"role", "system"}, {"content", message.text}});
          break;
        case Message::Role::assistant:
          if (says_nothing(message)) break;
          messages.push_back(
              chat_assistant_message(message, can_resend_blocks(message, settings_.name, request.model)));
          break;
        case Message::Role::tool:
          messages.push_back(json::object{
              {"role", "tool"}, {"tool_call_id", message.tool_call_id}, {"content", result_text(message)}});
      }
    }
    return messages;
  }

  ProviderSettings settings_;
  bool is_openai_service_;
};

}  // namespace

std::unique_ptr<WireFormat> openai_chat_format(ProviderSettings settings) {
  return std::make_unique<ChatFormat>(complete(std::move(settings)));
}

}  // namespace agw
