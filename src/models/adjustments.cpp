#include "models/adjustments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/contains_any.hpp"
#include "models/call_features.hpp"
#include "models/json_reader.hpp"
#include "models/picture.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

/// Shorter answers are of little use to programs that work with tools: they had better shorten the conversation.
constexpr std::int64_t min_answer_tokens = 1'024;
constexpr std::int64_t min_budget_tokens = 1'024;  // Anthropic's own
constexpr std::int64_t min_own_limit = 256;        // of a model: a smaller number means something else

/// The whole numbers of a text, largest first, without those of names such as `claude-3-haiku-20240307`.
std::vector<std::int64_t> whole_numbers(std::string_view text) {
  const auto at = [text](std::size_t place) { return place < text.size() ? text[place] : ' '; };
  const auto is_digit_at = [&](std::size_t place) { return at(place) >= '0' && at(place) <= '9'; };
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = begin;
    while (is_digit_at(end)) ++end;
    std::int64_t number = 0;
    const bool is_number =
        end > begin && std::from_chars(text.data() + begin, text.data() + end, number).ec == std::errc{};
    const char before = begin == 0 ? ' ' : text[begin - 1];
    const bool follows_name = is_alphanumeric(before) || before == '-' || before == '_' || before == '.';
    const bool goes_on = is_alphanumeric(at(end)) || at(end) == '-' || (at(end) == '.' && is_digit_at(end + 1));
    if (is_number && !follows_name && !goes_on) numbers.push_back(number);
    begin = std::max(end, begin + 1);
  }
  std::ranges::sort(numbers, std::greater());
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

/// The limit that a refusal of `limit` allows. Services name their own limit ("at most 16384"), or the window and the
/// input ("32000 > 32768 - 17459"), also with their total ("36000 tokens (4000 in the messages, 32000 in the
/// completion)").
std::optional<std::int64_t> allowed_limit(std::string_view refusal, std::int64_t limit) {
  const bool names_parameter =
      contains_any(refusal, {"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"});
  if (!names_parameter && !contains_any(refusal, {"completion", "output tokens", "in the output"})) return std::nullopt;
  auto numbers = whole_numbers(refusal);
  const bool names_limit = std::erase(numbers, limit) > 0;
  std::erase_if(numbers, [](std::int64_t number) { return number <= 1; });  // of a range
  if (numbers.size() == 1) return names_parameter ? std::optional(numbers[0]) : std::nullopt;
  if (numbers.size() < 2 || !names_limit) return std::nullopt;
  const auto window = numbers.size() == 2 ? numbers[0] : numbers[1];
  const auto input = numbers.size() == 2 ? numbers[1] : numbers[0] - limit;
  const auto left = window - input;
  return left >= min_answer_tokens ? std::optional(left) : std::nullopt;
}

/// In place of a PDF. Models that work with tools can read it in another way.
constexpr std::string_view left_out_pdf =
    "(A PDF is left out, because this model cannot read it. A program such as pdftotext makes a text of it.)";

/// Anthropic counts thinking towards the limit.
void fit_budget(json::object& request, std::int64_t limit) {
  auto* thinking = request.if_contains("thinking");
  auto* budget = thinking && thinking->is_object() ? thinking->get_object().if_contains("budget_tokens") : nullptr;
  if (!budget || budget->to_number<std::int64_t>() < limit) return;
  *budget = limit / 2;
  if (limit / 2 < min_budget_tokens) request.erase("thinking");
}

/// Whether the content of a message can follow that of the one before it. A template that excepts calls and results
/// from its rule takes no message of the user after a result.
bool can_join(const json::object& before, const json::object& message) {
  const auto role = text_member(message, "role");
  const auto role_before = text_member(before, "role");
  if (role == "user" && role_before == "tool")
    return before.at("content").is_string() && message.at("content").is_string();
  return role == role_before && role != "tool" && !before.contains("tool_calls") && !message.contains("tool_calls");
}

json::array parts_of_content(json::value content) {
  if (content.is_array()) return std::move(content.get_array());
  return {json::object{{"type", "text"}, {"text", std::move(content)}}};
}

void add_content(json::value& content, json::value more) {
  if (content.is_string() && more.is_string()) {
    content.get_string().append("\n\n").append(more.get_string());
    return;
  }
  auto parts = parts_of_content(std::move(content));
  for (auto& part : parts_of_content(std::move(more))) parts.push_back(std::move(part));
  content = std::move(parts);
}

/// Adds Ollama's images.
void add_images(json::object& message, const json::array& more) {
  auto& images = message["images"];
  if (!images.is_array()) images.emplace_array();
  images.get_array().insert(images.get_array().end(), more.begin(), more.end());
}

/// Calls `act` with each message of a request, in the forms of Chat Completions and Responses, but not with what is
/// passed on from a program.
template <class Act>
void for_each_message(json::object& request, Act act) {
  for (const auto* name : {"messages", "input"}) {
    auto* list = request.if_contains(name);
    if (!list || !list->is_array()) continue;
    for (auto& each : list->get_array()) {
      if (auto& message = each.get_object(); !is_passed_on(message)) act(message);
    }
  }
}

/// Calls `replace` with each id of a call. Returns whether any call returned true.
bool replace_ids(json::object& request, const std::function<bool(json::value& id)>& replace) {
  bool changed = false;
  const auto replace_member = [&](json::object& object, std::string_view name) {
    auto* id = object.if_contains(name);
    if (id && id->is_string()) changed |= replace(*id);
  };
  for_each_message(request, [&](json::object& message) {
    replace_member(message, "tool_call_id");
    replace_member(message, "call_id");
    auto* calls = message.if_contains("tool_calls");
    if (!calls) return;
    for (auto& call : calls->get_array()) replace_member(call.get_object(), "id");
  });
  return changed;
}

}  // namespace

bool fit_limit(json::object& request, std::string_view refusal) {
  for (const auto* name : {"max_tokens", "max_completion_tokens", "max_output_tokens"}) {
    auto* value = request.if_contains(name);
    if (!value || !value->is_int64()) continue;
    const auto limit = value->get_int64();
    const auto allowed = allowed_limit(refusal, limit);
    if (!allowed) return false;
    const bool is_lower = *allowed >= min_own_limit && *allowed < limit;
    // OpenAI's Responses take no limit below 16, with which programs try a key.
    const bool is_minimum = *allowed < min_own_limit && *allowed > limit && contains_any(refusal, {"minimum"});
    if (!is_lower && !is_minimum) return false;
    *value = *allowed;
    fit_budget(request, *allowed);
    return true;
  }
  return false;
}

bool fit_effort(json::object& request) {
  auto* effort = request.if_contains("reasoning_effort");
  for (const auto* name : {"reasoning", "output_config"}) {
    auto* object = request.if_contains(name);
    if (object && object->is_object()) effort = object->get_object().if_contains("effort");
  }
  if (!effort) return false;
  const bool is_lowest = *effort == "minimal";
  if (!is_lowest && *effort != "xhigh" && *effort != "max") return false;
  *effort = is_lowest ? "low" : "high";
  return true;
}

bool leave_out_tools(json::object& request) {
  for (const auto* name : {"tool_choice", "parallel_tool_calls", "toolConfig"}) request.erase(name);
  return request.erase("tools") > 0;
}

bool leave_out_thinking(json::object& request) {
  bool changed = request.erase("reasoning_effort") > 0;
  for (const auto name : thinking_labels) changed |= request.erase(name) > 0;
  for (const auto* name : {"reasoning", "output_config"}) {
    auto* object = request.if_contains(name);
    if (!object || !object->is_object()) continue;
    changed |= object->get_object().erase("effort") > 0;
    if (object->get_object().empty()) request.erase(name);
  }
  return changed;
}

bool leave_out_documents(json::object& request) {
  bool changed = false;
  for_each_message(request, [&](json::object& message) {
    auto* content = message.if_contains("content");
    if (!content || !content->is_array()) return;
    for (auto& part : content->get_array()) {
      const auto type = text_member(part.get_object(), "type");
      if (type != "file" && type != "input_file" && type != "document") continue;
      part = json::object{{"type", type == "input_file" ? "input_text" : "text"}, {"text", left_out_pdf}};
      changed = true;
    }
  });
  return changed;
}

void leave_out_documents(Message& message) {
  std::vector<Image> kept;
  std::size_t added = 0;
  for (auto& image : message.images) {
    image.text_before = std::min(image.text_before + added, message.text.size());
    if (image.mime != pdf_mime) {
      kept.push_back(std::move(image));
      continue;
    }
    auto text = std::string(left_out_pdf);
    if (image.text_before > 0) text.insert(0, 1, '\n');
    message.text.insert(image.text_before, text);
    added += text.size();
  }
  message.images = std::move(kept);
}

bool join_messages(json::array& messages) {
  json::array joined;
  for (auto& each : messages) {
    auto& message = each.get_object();
    auto* before = joined.empty() ? nullptr : &joined.back().get_object();
    if (before && can_join(*before, message)) {
      add_content((*before)["content"], std::move(message["content"]));
      if (const auto* images = array_member(message, "images")) add_images(*before, *images);
    } else {
      joined.push_back(std::move(each));
    }
  }
  const bool changed = joined.size() < messages.size();
  messages = std::move(joined);
  return changed;
}

bool move_prompt_to_user(json::array& messages) {
  if (messages.empty() || text_member(messages.front().get_object(), "role") != "system") return false;
  messages.front().get_object()["role"] = "user";
  join_messages(messages);
  return true;
}

bool fill_contents(json::array& messages) {
  bool changed = false;
  for (auto& message : messages) {
    auto* content = message.get_object().if_contains("content");
    if (!content || !content->is_null()) continue;
    content->emplace_string();
    changed = true;
  }
  return changed;
}

bool ask_to_continue(json::array& messages, json::value content) {
  if (messages.empty() || text_member(messages.back().get_object(), "role") != "assistant") return false;
  messages.push_back(json::object{{"role", "user"}, {"content", std::move(content)}});
  return true;
}

bool shorten_ids(json::object& request, std::size_t size) {
  return replace_ids(request, [size](json::value& id) {
    const std::string_view text = id.get_string();
    if (text.size() <= size) return false;
    id = to_hex(sha256(text)).substr(0, size);
    return true;
  });
}

bool shorten_ids_to_nine(json::object& request) {
  return replace_ids(request, [](json::value& id) {
    constexpr std::size_t size = 9;
    const std::string_view text = id.get_string();
    if (text.size() == size && std::ranges::all_of(text, is_alphanumeric)) return false;
    id = to_hex(sha256(text)).substr(0, size);
    return true;
  });
}

}  // namespace agw
