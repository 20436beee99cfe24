#include "models/call_features.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace agw {

namespace {

bool names_tool(const ModelRequest& request) {
  const auto& choice = request.options.tool_choice;
  return choice && (choice->kind == ToolChoice::Kind::required || choice->kind == ToolChoice::Kind::named);
}

bool is_of(const ModelRequest& request, ResponseFormat::Kind kind) {
  return request.options.response_format && request.options.response_format->kind == kind;
}

/// Services without levels analyse pictures at full resolution.
bool has_coarse_picture(const ModelRequest& request) {
  return std::ranges::any_of(request.messages, [](const Message& message) {
    return std::ranges::any_of(message.images, [](const Image& image) { return image.detail == "low"; });
  });
}

/// A name that all answers share tells nobody apart.
bool has_named_speaker(const ModelRequest& request) {
  std::string_view assistant;
  return std::ranges::any_of(request.messages, [&](const Message& message) {
    if (message.name.empty()) return false;
    if (message.role != Message::Role::assistant) return true;
    if (assistant.empty()) assistant = message.name;
    return message.name != assistant;
  });
}

/// Services without tiers have only the standard one.
bool chooses_tier(const ModelRequest& request) {
  const auto& tier = request.options.service_tier;
  return !tier.empty() && tier != "auto" && tier != "default";
}

bool chooses_place(const ModelRequest& request) {
  return !request.options.inference_geo.empty() && request.options.inference_geo != "global";
}

bool chooses_verbosity(const ModelRequest& request) {
  return !request.options.verbosity.empty() && request.options.verbosity != "medium";
}

template <std::size_t number>
bool chooses_sampling(const ModelRequest& request) {
  const auto* value = request.options.labels.if_contains(sampling_labels.at(number).name);
  return value && value->to_number<double>() != sampling_labels.at(number).neutral;
}

template <std::size_t number>
constexpr CallFeature sampling_feature{.chat = sampling_labels.at(number).name,
                                       .is_asked = chooses_sampling<number>,
                                       .by_chat = true,
                                       .by_ollama = !sampling_labels.at(number).of_ollama.empty(),
                                       .by_agents = true};

// clang-format off
constexpr std::array features = {
    //          Chat Completions       Responses              Messages                     is asked                                                                     anthropic chat responses ollama gemini agents
    CallFeature{"tool_choice",         "tool_choice",         "tool_choice",               names_tool,                                                                                      true,  true,  true,  false, true,   false},
    CallFeature{"parallel_tool_calls", "parallel_tool_calls", "tool_choice.disable_parallel_tool_use",
                                                                                           [](const ModelRequest& r) { return r.options.parallel_tool_calls == false; },               true,  true,  true,  false, false,  true},
    CallFeature{"response_format",     "text.format",         "",                          [](const ModelRequest& r) { return is_of(r, ResponseFormat::Kind::json_object); },  false, true,  true,  true,  true,   false},
    CallFeature{"response_format",     "text.format",         "output_config.format",      [](const ModelRequest& r) { return is_of(r, ResponseFormat::Kind::json_schema); },  true,  true,  true,  true,  true,   false},
    CallFeature{"seed",                "",                    "",                          [](const ModelRequest& r) { return r.options.seed.has_value(); },                           false, true,  false, true,  true,   true},
    CallFeature{"stop",                "",                    "stop_sequences",            [](const ModelRequest& r) { return !r.options.stop.empty(); },                              true,  true,  false, true,  true,   false},
    CallFeature{"top_k",               "",                    "top_k",                     [](const ModelRequest& r) { return r.options.top_k.value_or(0) > 0; },                      true,  true,  false, true,  true,   true},
    sampling_feature<0>, sampling_feature<1>, sampling_feature<2>, sampling_feature<3>, sampling_feature<4>,
    CallFeature{"frequency_penalty",   "frequency_penalty",   "",                          [](const ModelRequest& r) { return r.options.frequency_penalty.value_or(0) != 0; },         false, true,  false, true,  true,   true},
    CallFeature{"presence_penalty",    "presence_penalty",    "",                          [](const ModelRequest& r) { return r.options.presence_penalty.value_or(0) != 0; },          false, true,  false, true,  true,   true},
    CallFeature{"verbosity",           "text.verbosity",      "",                          chooses_verbosity,                                                                 false, true,  true,  false, false,  true},
    CallFeature{"tools[].function.strict", "tools[].strict",  "tools[].strict",            has_strict_tool,                                                                   true,  true,  true,  false, true,   true},
    CallFeature{"messages[].content[].image_url.detail", "input[].content[].detail", "",
                                                                                           has_coarse_picture,                                                                false, true,  true,  false, false,  false},
    CallFeature{"messages[].name",     "",                    "",                          has_named_speaker,                                                                 false, true,  false, false, false,  false},
    CallFeature{"service_tier",        "service_tier",        "",                          chooses_tier,                                                                      false, true,  true,  false, false,  true},
    CallFeature{"",                    "",                    "inference_geo",             chooses_place,                                                                     true,  false, false, false, false,  false},
};
// clang-format on

bool can(const CallFeature& feature, const ProviderSettings& settings) {
  switch (settings.kind) {
    case ProviderKind::anthropic:
      return feature.by_anthropic;
    case ProviderKind::ollama:
      return feature.by_ollama;
    case ProviderKind::gemini:
      return feature.by_gemini;
    case ProviderKind::openai:
      break;
  }
  return settings.api == OpenAiApi::responses ? feature.by_responses : feature.by_chat;
}

constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> budgets = {{{"none", 0},
                                                                               {"minimal", 1'024},
                                                                               {"low", 2'048},
                                                                               {"medium", 8'192},
                                                                               {"high", 24'576},
                                                                               {"xhigh", 32'768},
                                                                               {"max", 65'536}}};

}  // namespace

bool has_strict_tool(const ModelRequest& request) {
  return std::ranges::any_of(request.tools, [](const auto& tool) { return tool.strict == true; });
}

std::span<const CallFeature> call_features() { return features; }

const CallFeature* unsupported_feature(const ModelRequest& request, const ProviderSettings& settings) {
  const auto found = std::ranges::find_if(
      features, [&](const CallFeature& feature) { return feature.is_asked(request) && !can(feature, settings); });
  return found == features.end() ? nullptr : &*found;
}

std::optional<std::string> reasoning_effort(const CallOptions& options) {
  if (options.reasoning_effort || !options.reasoning_budget) return options.reasoning_effort;
  if (*options.reasoning_budget <= 0) return "none";
  if (*options.reasoning_budget <= 4'096) return "low";
  return *options.reasoning_budget <= 16'384 ? "medium" : "high";
}

std::optional<std::int64_t> reasoning_budget(const CallOptions& options) {
  if (options.reasoning_budget || !options.reasoning_effort) return options.reasoning_budget;
  for (const auto& [effort, budget] : budgets) {
    if (effort == *options.reasoning_effort) return budget;
  }
  return std::nullopt;
}

bool thinks_adaptively(std::string_view model) {
  const auto name = model.find("claude-");
  const auto digits = name == model.npos ? name : model.find_first_of("0123456789", name);
  if (digits == model.npos || digits == name + std::string_view("claude-").size()) return false;  // claude-3-7-sonnet
  const auto* end = model.data() + model.size();
  int major = 0;
  int minor = 0;
  const auto* rest = std::from_chars(model.data() + digits, end, major).ptr;
  if (rest != end && (*rest == '-' || *rest == '.')) {
    constexpr int max_digits = 2;  // claude-opus-4-20250514 has a date
    const auto* minor_end = std::from_chars(rest + 1, end, minor).ptr;
    if (minor_end - rest > 1 + max_digits) minor = 0;
  }
  return std::pair(major, minor) >= std::pair(4, 6);
}

}  // namespace agw
