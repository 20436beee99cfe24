// Google's generateContent, streamed. The file has three parts, in this order: the request, built from a ModelRequest;
// the reader, which turns the frames of the response into deltas and an outcome; and the format, which puts both
// together (wire_format.hpp). Signatures of thoughts belong to a part of a message and are sent back with it.

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "models/call_features.hpp"
#include "models/json_reader.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr auto signature_member = "thoughtSignature";
constexpr auto call_member = "functionCall";
/// Google's placeholder for calls that another model made: models since Gemini 3 reject calls without a signature.
constexpr auto no_signature = "skip_thought_signature_validator";
constexpr std::string_view name_of_text = "text";

json::object text_part(std::string_view text) { return {{"text", text}}; }

json::object picture_part(const Image& image) {
  if (image.mime == "image/gif") return text_part("(A GIF picture, which this model cannot see.)");
  return {{"inlineData", json::object{{"mimeType", image.mime}, {"data", base64(image.bytes)}}}};
}

/// Leaves out blank texts.
json::array gemini_user_parts(const Message& message) {
  json::array parts;
  for (const auto& part : parts_of(message)) {
    const auto* text = std::get_if<std::string_view>(&part);
    parts.push_back(text ? text_part(*text) : picture_part(*std::get<1>(part)));
  }
  return parts;
}

/// The signatures of an answer, kept as blocks `{"of": "text" | <number of the call>, "thoughtSignature": …}`.
json::object signature_block(json::value of, std::string_view signature) {
  return {{"of", std::move(of)}, {signature_member, signature}};
}

std::string_view signature_of(const json::array& blocks, const json::value& of) {
  for (const auto& block : blocks) {
    const auto* object = block.if_object();
    const auto* target = object ? object->if_contains("of") : nullptr;
    if (target && *target == of) return text_member(*object, signature_member);
  }
  return {};
}

json::object call_part(const ToolUse& use) {
  json::object call{{"name", use.name}, {"args", use.input}};
  if (!use.id.empty()) call["id"] = use.id;
  return {{call_member, std::move(call)}};
}

/// False if all blocks are of other APIs: programs send back to one model what they got from another.
bool has_signatures(const json::array& blocks) {
  return std::ranges::any_of(blocks, [](const json::value& block) {
    const auto* object = block.if_object();
    return object && object->contains("of");
  });
}

json::array model_parts(const Message& message, const json::array& blocks) {
  const bool is_signed = has_signatures(blocks);
  json::array parts;
  if (!is_invisible(message.text)) {
    auto part = text_part(message.text);
    if (const auto signature = signature_of(blocks, json::value(name_of_text)); !signature.empty())
      part[signature_member] = signature;
    parts.push_back(std::move(part));
  }
  for (std::int64_t number = 0; const auto& use : message.tool_uses) {
    auto part = call_part(use);
    auto signature = signature_of(blocks, number);
    // Only the first of several parallel calls has one.
    if (signature.empty() && !is_signed && number == 0) signature = no_signature;
    if (!signature.empty()) part[signature_member] = signature;
    parts.push_back(std::move(part));
    ++number;
  }
  return parts;
}

json::object result_part(const Message& message) {
  json::object response{{message.is_error ? "error" : "output", message.text}};
  json::object result{{"name", message.tool_name}, {"response", std::move(response)}};
  if (!message.tool_call_id.empty()) result["id"] = message.tool_call_id;
  return {{"functionResponse", std::move(result)}};
}

/// Writes the messages as Gemini requires: the user begins, roles alternate, and the results of all calls of a turn
/// are in one content.
class Contents {
public:
  void add(std::string_view role, json::array parts) {
    if (parts.empty()) return;
    if (contents_.empty() && role != "user") add("user", {text_part("(The conversation continues.)")});
    if (contents_.empty() || role != role_) {
      contents_.push_back(json::object{{"role", role}, {"parts", std::move(parts)}});
      role_ = role;
      return;
    }
    auto& previous = contents_.back().get_object()["parts"].get_array();
    for (auto& part : parts) previous.push_back(std::move(part));
  }

  json::array take() { return std::move(contents_); }

private:
  json::array contents_;
  std::string role_;
};

json::object gemini_tool_choice(const ToolChoice& choice) {
  switch (choice.kind) {
    case ToolChoice::Kind::none:
      return {{"mode", "NONE"}};
    case ToolChoice::Kind::required:
      return {{"mode", "ANY"}};
    case ToolChoice::Kind::named:
      return {{"mode", "ANY"}, {"allowedFunctionNames", json::array{json::value(choice.name)}}};
    case ToolChoice::Kind::automatic:
      break;
  }
  return {{"mode", "AUTO"}};
}

bool is_filter(std::string_view reason) {
  static constexpr std::array<std::string_view, 9> filters = {"SAFETY",
                                                              "RECITATION",
                                                              "LANGUAGE",
                                                              "BLOCKLIST",
                                                              "PROHIBITED_CONTENT",
                                                              "SPII",
                                                              "IMAGE_SAFETY",
                                                              "IMAGE_PROHIBITED_CONTENT",
                                                              "IMAGE_RECITATION"};
  return contains(filters, reason);
}

/// Reasons that indicate a failure of the model: a retry may succeed.
bool is_model_failure(std::string_view reason) {
  static constexpr std::array<std::string_view, 5> reasons = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL",
                                                              "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE",
                                                              "MISSING_THOUGHT_SIGNATURE"};
  return contains(reasons, reason);
}

class GeminiReader : public AnswerReader {
public:
  using AnswerReader::AnswerReader;

private:
  void read_object(std::string_view, const json::object& frame) override {
    if (const auto* usage = object_member(frame, "usageMetadata")) take_usage(*usage);
    if (const auto* feedback = object_member(frame, "promptFeedback")) take_feedback(*feedback);
    const auto* candidates = array_member(frame, "candidates");
    const auto* candidate = candidates && !candidates->empty() ? candidates->front().if_object() : nullptr;
    const bool may_be_last = !candidate || read_candidate(*candidate);
    // There is no terminal event: the last frame has the reason and the counts.
    ended_ = complete_ && may_be_last && frame.contains("usageMetadata");
  }

  /// Counts are cumulative. Those of the prompt include tokens read from the cache.
  void take_usage(const json::object& counted) {
    const auto count = [&](std::string_view name) { return count_member(counted, name).value_or(0); };
    auto& usage = reply_.usage;
    usage.cache_read_tokens = count("cachedContentTokenCount");
    const auto prompt = count("promptTokenCount") + count("toolUsePromptTokenCount");
    usage.input_tokens = std::max<std::int64_t>(0, prompt - usage.cache_read_tokens);
    usage.reasoning_tokens = count("thoughtsTokenCount");
    usage.output_tokens = count("candidatesTokenCount") + usage.reasoning_tokens;
  }

  void take_feedback(const json::object& feedback) {
    if (text_member(feedback, "blockReason").empty()) return;
    reply_.stop = StopReason::content_filter;
    complete_ = true;
  }

  /// Returns whether it has a reason that ends the answer. Some services give one in each frame, or before the text:
  /// these end nothing.
  bool read_candidate(const json::object& candidate) {
    if (const auto* content = object_member(candidate, "content")) {
      if (const auto* parts = array_member(*content, "parts")) {
        for (const auto& part : *parts) {
          if (const auto* object = part.if_object()) read_part(*object);
        }
      }
    }
    const auto reason = text_member(candidate, "finishReason");
    goes_on_ = goes_on_ || reason.empty();
    take_finish(reason, text_member(candidate, "finishMessage"));
    return goes_on_ && !reason.empty();
  }

  void read_part(const json::object& part) {
    const auto signature = text_member(part, signature_member);
    if (const auto* call = object_member(part, call_member)) return add_call(*call, signature);
    const auto written = text_member(part, "text");
    complete_ = complete_ && written.empty();
    if (is_true(part, "thought")) return reasoning(written);
    text(written);
    // The last signature counts. It arrives at the end of the text, possibly in a part without text.
    if (!signature.empty()) text_signature_ = signature;
  }

  void add_call(const json::object& call, std::string_view signature) {
    const auto number = static_cast<std::int64_t>(calls_.size());
    const auto* arguments = object_member(call, "args");
    calls_.add(number, text_member(call, "id"), text_member(call, "name"), arguments ? to_json(*arguments) : "{}");
    if (!signature.empty()) reply_.provider_blocks.push_back(signature_block(number, signature));
  }

  void take_finish(std::string_view reason, std::string_view message) {
    if (reason.empty() || reason == "FINISH_REASON_UNSPECIFIED") return;
    if (is_model_failure(reason)) {
      return fail(ModelFailure::Kind::protocol, fmt::format("broke off its answer: {} {}", reason, message));
    }
    if (reason == "MAX_TOKENS") reply_.stop = StopReason::length;
    if (is_filter(reason)) reply_.stop = StopReason::content_filter;
    complete_ = true;
  }

  void finish() override {
    if (!text_signature_.empty())
      reply_.provider_blocks.push_back(signature_block(json::value(name_of_text), text_signature_));
  }

  std::string text_signature_;
  bool goes_on_ = false;  ///< whether a frame had no reason
};

class GeminiFormat : public WireFormat {
public:
  explicit GeminiFormat(ProviderSettings settings) : settings_(std::move(settings)) {}

  /// Ids with a slash name a collection other than `models`, such as `tunedModels/…`.
  std::string url(std::string_view model) const override {
    const bool is_whole = model.find('/') != model.npos;
    const auto path = fmt::format("/{}{}:streamGenerateContent", is_whole ? "" : "models/", model);
    auto url = service_url(settings_.base_url, gemini_version(settings_.base_url) + path, model);
    url += url.find('?') == url.npos ? "?alt=sse" : "&alt=sse";
    return url;
  }

  std::vector<HttpHeader> headers() const override {
    if (settings_.api_key.empty()) return {};
    return {{"x-goog-api-key", settings_.api_key}};
  }

  json::object request(const ModelRequest& request) const override {
    json::object body;
    if (!request.system.empty()) {
      body["systemInstruction"] = json::object{{"parts", json::array{text_part(request.system)}}};
    }
    if (!request.tools.empty()) {
      body["tools"] = json::array{json::object{{"functionDeclarations", declarations(request.tools)}}};
      add_tool_choice(body, request);
    }
    json::object config;
    if (request.options.limits_output) config["maxOutputTokens"] = request.max_output_tokens;
    if (request.temperature) config["temperature"] = *request.temperature;
    config["thinkingConfig"] = json::object{{"includeThoughts", true}};
    add_options(config, request.options);
    body["generationConfig"] = std::move(config);
    body["contents"] = contents(request);
    return body;
  }

  bool adjust(json::object& request, const ProviderError& error) const override {
    auto& config = request["generationConfig"].get_object();
    // Models that cannot think reject requests for thoughts.
    const bool of_thoughts = error.mentions({"hinking", "nclude_thoughts", "ncludeThoughts"});
    if (of_thoughts && config.erase("thinkingConfig") > 0) return true;
    for (const auto& [word, member] :
         {std::pair{"temperature", "temperature"}, std::pair{"op_p", "topP"}, std::pair{"op_k", "topK"},
          std::pair{"resence", "presencePenalty"}, std::pair{"requency", "frequencyPenalty"}}) {
      if (error.mentions(word) && config.erase(member) > 0) return true;
    }
    if (error.mentions("eveloper instruction is not enabled")) return move_system(request);
    return error.mentions("hought signature") && remove_signatures(request);
  }

  std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const override {
    return std::make_unique<GeminiReader>(on_delta);
  }

private:
  /// The service keeps to the schemas of all tools or of none, and always if a call is required.
  static void add_tool_choice(json::object& body, const ModelRequest& request) {
    const auto& chosen = request.options.tool_choice;
    auto choice = gemini_tool_choice(chosen.value_or(ToolChoice()));
    const bool is_strict = choice["mode"] == "AUTO" && has_strict_tool(request);
    if (is_strict) choice["mode"] = "VALIDATED";
    if (chosen || is_strict) body["toolConfig"] = json::object{{"functionCallingConfig", std::move(choice)}};
  }

  static void add_options(json::object& config, const CallOptions& options) {
    if (options.top_p) config["topP"] = *options.top_p;
    if (options.top_k >= 0) config["topK"] = *options.top_k;
    if (options.seed) config["seed"] = *options.seed;
    if (options.frequency_penalty) config["frequencyPenalty"] = *options.frequency_penalty;
    if (options.presence_penalty) config["presencePenalty"] = *options.presence_penalty;
    if (!options.stop.empty()) config["stopSequences"] = json::array(options.stop.begin(), options.stop.end());
    if (options.response_format) {
      config["responseMimeType"] = "application/json";
      if (options.response_format->kind == ResponseFormat::Kind::json_schema) {
        config["responseJsonSchema"] = options.response_format->schema;
      }
    }
    if (const auto budget = reasoning_budget(options)) {
      config["thinkingConfig"].get_object()["thinkingBudget"] = *budget;
      if (*budget == 0) config["thinkingConfig"].get_object()["includeThoughts"] = false;
    }
  }

  static json::array declarations(const std::vector<ToolDescription>& descriptions) {
    json::array functions;
    for (const auto& tool : descriptions) {
      functions.push_back(json::object{{"name", tool.name},
                                       {"description", description_with_examples(tool)},
                                       {"parametersJsonSchema", *tool.input_schema}});
    }
    return functions;
  }

  json::array contents(const ModelRequest& request) const {
    Contents contents;
    for (const auto& message : request.messages) {
      switch (message.role) {
        case Message::Role::user:
          contents.add("user", gemini_user_parts(message));
          break;
        case Message::Role::system:
          contents.add("user", {text_part(reminder_text(message.text))});
          break;
        case Message::Role::tool:
          contents.add("user", {result_part(message)});
          break;
        case Message::Role::assistant: {
          const bool is_own = can_resend_blocks(message, settings_.name, request.model);
          contents.add("model", model_parts(message, is_own ? message.provider_blocks : json::array()));
        }
      }
    }
    return contents.take();
  }

  /// Gemma accepts no system instruction, so it is moved to the first message.
  static bool move_system(json::object& request) {
    const auto* system = object_member(request, "systemInstruction");
    if (!system || request["contents"].get_array().empty()) return false;
    auto part = system->at("parts").at(0);
    auto& parts = request["contents"].get_array().front().get_object()["parts"].get_array();
    parts.insert(parts.begin(), std::move(part));
    request.erase("systemInstruction");
    return true;
  }

  /// Signatures may be invalid for another key or address of the service, and models that cannot think accept none at
  /// all.
  static bool remove_signatures(json::object& request) {
    bool had_real = false;
    bool had_any = false;
    each_signature(request, [&](json::object&, const json::value& signature) {
      had_any = true;
      had_real = had_real || signature != no_signature;
    });
    each_signature(request, [&](json::object& part, json::value& signature) {
      if (!had_real) {
        part.erase(signature_member);
      } else {
        signature = no_signature;
      }
    });
    return had_any;
  }

  static void each_signature(json::object& request, const std::function<void(json::object&, json::value&)>& change) {
    for (auto& content : request["contents"].get_array()) {
      for (auto& part : content.get_object()["parts"].get_array()) {
        auto& members = part.get_object();
        if (auto* signature = members.if_contains(signature_member)) change(members, *signature);
      }
    }
  }

  ProviderSettings settings_;
};

}  // namespace

std::string gemini_version(std::string_view base_url) {
  const auto path = base_url.substr(0, base_url.find('?'));
  for (const auto* version : {"/v1", "/v1beta", "/v1alpha"}) {
    if (path.ends_with(version)) return {};
  }
  return "/v1beta";
}

std::unique_ptr<WireFormat> gemini_format(ProviderSettings settings) {
  return std::make_unique<GeminiFormat>(complete(std::move(settings)));
}

}  // namespace agw
