#include "models/wire_format.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/text/utf8.hpp"
#include "models/json_reader.hpp"

namespace agw {

using Kind = ModelFailure::Kind;

namespace {

json::array with_whole_characters(json::array blocks) {
  const auto text = to_json(blocks);
  if (is_utf8(text)) return blocks;
  auto whole = parse_json(to_valid_utf8(text));
  return whole && whole->is_array() ? std::move(whole->get_array()) : json::array();
}

/// Some servers append spaces.
bool is_end_mark(std::string_view data) { return data.starts_with("[DONE]") && is_blank(data.substr(6)); }

}  // namespace

void AnswerReader::read(const Frame& frame) {
  const bool is_keep_alive = is_blank(frame.data) && frame.event != "error";
  if (ended() || is_keep_alive) return;
  if (is_end_mark(frame.data)) {
    ended_ = true;
    return read_done_marker();
  }
  const auto object = parse_stream_frame(frame.data);
  // A stream may be cut off behind the end of the answer.
  if (!object && complete_) return;
  const bool is_error_in_words = !object && frame.event == "error" && !is_blank(frame.data);
  if (is_error_in_words) return fail(parse_provider_error(frame.data));
  if (!object) return fail(Kind::protocol, "sent invalid JSON in its stream");
  if (const auto* error = error_in(*object)) return fail(read_provider_error(*error));
  const bool is_error = frame.event == "error" || text_member(*object, "object") == "error";
  if (is_error) return fail(read_provider_error(json::value(*object)));
  read_object(frame.event, *object);
  if (!calls_.empty()) emit_calls();
}

void AnswerReader::fail(ModelFailure::Kind kind, std::string message) {
  if (failure_) return;
  failure_ = ModelFailure{};
  failure_->kind = kind;
  failure_->message = std::move(message);
}

void AnswerReader::fail(const ProviderError& provider_error) {
  if (failure_) return;
  failure_ = stream_failure(provider_error);
  notice_ = provider_error;
}

ModelOutcome AnswerReader::outcome() {
  if (!failure_ && !complete_ && notice_) fail(*notice_);
  if (!failure_ && !complete_) fail(Kind::unavailable, "ended its answer too early");
  if (failure_) {
    failure_->usage = reply_.usage;
    return *failure_;
  }
  take(tags_.finish(reply_.stop != StopReason::length && calls_.empty()));
  finish();
  emit(Delta::Kind::reasoning, reasoning_.finish());
  emit(Delta::Kind::text, text_.finish());
  reply_.provider_blocks = with_whole_characters(std::move(reply_.provider_blocks));
  reply_.tool_uses = calls_.finish();
  emit_rest_of_calls();
  if (reply_.stop == StopReason::stop && !calls_.empty()) reply_.stop = StopReason::tool_use;
  if (reply_.stop == StopReason::tool_use && calls_.empty()) reply_.stop = StopReason::stop;
  return std::move(reply_);
}

void AnswerReader::text(std::string_view delta) {
  wrote_text_ = wrote_text_ || !delta.empty();
  emit(Delta::Kind::text, text_.add(delta));
}

void AnswerReader::reasoning(std::string_view delta) { emit(Delta::Kind::reasoning, reasoning_.add(delta)); }

void AnswerReader::returnable_reasoning(std::string_view delta) {
  thoughts_ += delta;
  reasoning(delta);
}

void AnswerReader::take(const ThinkTags::Pieces& pieces) {
  returnable_reasoning(pieces.thoughts);
  text(pieces.text);
}

void AnswerReader::service_tier(std::string_view tier) {
  if (tier.empty() || tier == reply_.service_tier || !is_utf8(tier)) return;
  reply_.service_tier = tier;
  on_delta_({Delta::Kind::service_tier, reply_.service_tier});
}

void AnswerReader::provider_block(const json::object& block) {
  on_delta_({Delta::Kind::provider_block, to_json(with_whole_characters({block}).front())});
}

void AnswerReader::emit(Delta::Kind kind, std::string delta) {
  if (delta.empty()) return;
  began_ = true;
  on_delta_({kind, std::move(delta)});
}

/// Reports new pieces of the calls that have an id and a name.
void AnswerReader::emit_calls() {
  const auto& calls = calls_.calls();
  began_ = true;
  reported_.resize(std::max(reported_.size(), calls.size()));
  for (std::size_t number = 0; number < calls.size(); ++number) {
    const auto& call = calls[number];
    auto& reported = reported_[number];
    if (reported.id.empty()) {
      const bool is_unique = std::ranges::none_of(reported_, [&](const auto& other) { return other.id == call.id; });
      if (call.id.empty() || call.name.empty() || !is_unique || !is_utf8(call.id) || !is_utf8(call.name)) continue;
      reported.id = call.id;
      on_delta_({Delta::Kind::call, {}, number, call.id, call.name});
    }
    // What another piece may replace (ToolCalls), or is not the JSON itself.
    if (reported.bytes == 0 && (call.arguments == "{}" || call.arguments.starts_with('"'))) continue;
    if (call.arguments.size() <= reported.bytes) continue;
    auto piece = reported.arguments.add(std::string_view(call.arguments).substr(reported.bytes));
    reported.bytes = call.arguments.size();
    if (!piece.empty()) on_delta_({Delta::Kind::arguments, std::move(piece), number});
  }
}

/// Reports calls whose id the gateway made up, and arguments of calls that arrived without any.
void AnswerReader::emit_rest_of_calls() {
  const auto& uses = reply_.tool_uses;
  AGW_ASSERT(reported_.size() <= uses.size());
  reported_.resize(uses.size());
  for (std::size_t number = 0; number < uses.size(); ++number) {
    auto& reported = reported_[number];
    if (reported.id.empty()) on_delta_({Delta::Kind::call, {}, number, uses[number].id, uses[number].name});
    auto rest = reported.arguments.finish();
    if (reported.bytes == 0) rest = uses[number].arguments_text();
    if (!rest.empty()) on_delta_({Delta::Kind::arguments, std::move(rest), number});
  }
}

std::unique_ptr<FrameSplitter> WireFormat::splitter(char first, OnFrame on_frame) const {
  if (first == '{' || first == '[') return whole_body(std::move(on_frame));
  return split_events(std::move(on_frame));
}

std::string reminder_text(std::string_view instructions) {
  return fmt::format("<system-reminder>\n{}\n</system-reminder>", instructions);
}

bool is_passed_on(const json::object& item) { return text_member(item, "type") == "reasoning"; }

bool remind_as_user(json::array& messages) {
  bool changed = false;
  for (auto& each : messages | std::views::drop(1)) {
    auto& message = each.get_object();
    const auto role = text_member(message, "role");
    if ((role != "system" && role != "developer") || is_passed_on(message)) continue;
    auto& content = message["content"];
    auto& text = content.is_array() ? content.get_array().front().get_object()["text"] : content;
    text = reminder_text(text.get_string());
    message["role"] = "user";
    changed = true;
  }
  return changed;
}

bool can_resend_blocks(const Message& message, std::string_view provider, std::string_view model) {
  return !message.provider_blocks.empty() && message.provider_blocks_of == fmt::format("{}/{}", provider, model);
}

bool says_nothing(const Message& answer) { return answer.tool_uses.empty() && is_invisible(answer.text); }

bool is_deferred(const DeferredTools& deferred, std::string_view name) {
  return deferred && contains(*deferred, name, &ToolDescription::name);
}

std::vector<const ToolDescription*> referenced_tools(const Message& result, const DeferredTools& deferred) {
  std::vector<const ToolDescription*> tools;
  if (!deferred) return tools;
  for (const auto& name : result.found_tools) {
    const auto found = std::ranges::find(*deferred, name, &ToolDescription::name);
    if (found != deferred->end()) tools.push_back(&*found);
  }
  return tools;
}

std::vector<const ToolDescription*> tools_to_define(const ModelRequest& request) {
  std::set<std::string_view> referenced;
  for (const auto& message : request.messages) {
    for (const auto* tool : referenced_tools(message, request.deferred_tools)) referenced.insert(tool->name);
  }
  std::vector<const ToolDescription*> tools;
  for (const auto& tool : request.tools) {
    if (!referenced.contains(tool.name)) tools.push_back(&tool);
  }
  return tools;
}

std::vector<MessagePart> parts_of(const Message& message) {
  std::vector<MessagePart> parts;
  const std::string_view text = message.text;
  std::size_t written = 0;
  const auto add_text = [&](std::size_t end) {
    auto piece = text.substr(written, end - written);
    written = end;
    const bool follows_image = !parts.empty() && std::holds_alternative<const Image*>(parts.back());
    // Line ends between a text and an image only separated two texts.
    if (follows_image) piece.remove_prefix(std::min(piece.find_first_not_of('\n'), piece.size()));
    if (!is_invisible(piece)) parts.emplace_back(piece);
  };
  for (const auto& image : message.images) {
    add_text(std::clamp(image.text_before, written, text.size()));
    parts.emplace_back(&image);
  }
  add_text(text.size());
  return parts;
}

std::string description_with_examples(const ToolDescription& tool) {
  auto text = tool.description;
  for (const auto& example : tool.examples) {
    if (!text.empty()) text += '\n';
    text += "Example of its input: " + to_json(example);
  }
  return text;
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  AGW_ASSERT(static_cast<std::size_t>(length) + 1 == text.size());
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string padded(text);
  padded.append((4 - padded.size() % 4) % 4, '=');
  std::string bytes(padded.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(padded.data()), static_cast<int>(padded.size()));
  if (length < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(length) - (padded.size() - text.size()));
  return bytes;
}

std::string data_url(const Image& image) { return fmt::format("data:{};base64,{}", image.mime, base64(image.bytes)); }

std::string result_text(const Message& message) { return message.is_error ? "Error: " + message.text : message.text; }

std::string arguments_for_service(const ToolUse& use) { return use.is_malformed ? "{}" : use.arguments_text(); }

void add_labels(json::object& body, const CallOptions& options) {
  if (!options.service_tier.empty()) body["service_tier"] = options.service_tier;
  for (const auto& [name, value] : options.labels) body[name] = value;
}

json::array function_tools(const std::vector<ToolDescription>& descriptions) {
  json::array tools;
  for (const auto& tool : descriptions) {
    json::object function{
        {"name", tool.name}, {"description", description_with_examples(tool)}, {"parameters", *tool.input_schema}};
    if (tool.strict) function["strict"] = *tool.strict;
    tools.push_back(json::object{{"type", "function"}, {"function", std::move(function)}});
  }
  return tools;
}

}  // namespace agw
