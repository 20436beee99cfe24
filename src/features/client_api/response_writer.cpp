// Writes OpenAI's Responses. An item of the output is open from its first piece to its `output_item.done`. Only one
// text or reasoning item is open at a time, but several calls may be.

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"

#include "api/client_errors.hpp"
#include "base/json/json_values.hpp"
#include "features/client_api/anthropic_blocks.hpp"
#include "features/client_api/response_tools.hpp"
#include "features/client_api/responses.hpp"
#include "models/json_reader.hpp"

namespace agw {

namespace {

struct OutputItem {
  enum class Kind { reasoning, message, call };
  Kind kind = Kind::message;
  std::string id;
  std::string text{};  ///< of a call: its arguments
  std::string call_id{};
  std::string name{};
  std::string space{};      ///< the namespace of the call's function; empty without one
  bool takes_text = false;  ///< the call's tool takes free text; `text` is that text when the call is done
  bool searches = false;    ///< the call searches the program's tools
  std::string encrypted{};  ///< reasoning only: data that the service requires back; empty: none, or not requested
  bool done = false;
  bool is_truncated = false;  ///< done, but not complete

  const char* status() const { return !done ? "in_progress" : is_truncated ? "incomplete" : "completed"; }
};

json::object text_part(const std::string& text) {
  return {{"type", "output_text"}, {"text", text}, {"annotations", json::array()}, {"logprobs", json::array()}};
}

json::object summary_part(const std::string& text) { return {{"type", "summary_text"}, {"text", text}}; }

json::object search_members(const OutputItem& item, const char* status) {
  return {{"id", item.id},
          {"type", "tool_search_call"},
          {"status", status},
          {"call_id", item.call_id},
          {"execution", "client"},
          {"arguments", item.done ? parse_object(item.text).value_or(json::object()) : json::object()}};
}

json::object call_members(const OutputItem& item, const char* status) {
  json::object members{
      {"id", item.id},     {"type", item.takes_text ? "custom_tool_call" : "function_call"},
      {"status", status},  {"call_id", item.call_id},
      {"name", item.name}, {item.takes_text ? "input" : "arguments", item.done ? item.text : std::string()}};
  if (!item.space.empty()) members["namespace"] = item.space;
  return members;
}

/// A tool as the program named it.
struct ProgramTool {
  std::string space;
  std::string name;
  bool takes_text = false;
  bool searches = false;
};

/// By their names for the model.
using ProgramTools = std::map<std::string, ProgramTool, std::less<>>;

ProgramTools tools_in(const json::array& tools, const std::string& space = {}) {
  ProgramTools read;
  for (const auto& tool : tools) {
    const auto& object = tool.as_object();
    const auto name = string_or_empty(object, "name");
    const auto type = string_or_empty(object, "type");
    const auto* functions = array_member(object, "tools");
    if (type == "tool_search") {
      read.try_emplace(std::string(tool_search_name), ProgramTool{.searches = true});
    } else if (type != "namespace") {
      read.try_emplace(name_in_namespace(space, name), ProgramTool{space, name, type == "custom"});
    } else if (functions) {
      read.merge(tools_in(*functions, name));
    }
  }
  return read;
}

/// The free text in a call's arguments; all of them if they are malformed.
std::string free_text_in(std::string arguments) {
  const auto object = parse_object(arguments);
  const auto text = object ? string_member(*object, free_text_argument) : std::nullopt;
  return text ? std::string(*text) : arguments;
}

json::object item_members(const OutputItem& item) {
  const auto* status = item.status();
  switch (item.kind) {
    case OutputItem::Kind::reasoning: {
      json::array summary;
      if (item.done && !item.text.empty()) summary.push_back(summary_part(item.text));
      json::object members{{"id", item.id}, {"type", "reasoning"}, {"status", status}, {"summary", std::move(summary)}};
      if (!item.encrypted.empty()) members["encrypted_content"] = item.encrypted;
      return members;
    }
    case OutputItem::Kind::call:
      return item.searches ? search_members(item, status) : call_members(item, status);
    case OutputItem::Kind::message:
      break;
  }
  json::array content;
  if (item.done) content.push_back(text_part(item.text));
  return {
      {"id", item.id}, {"type", "message"}, {"status", status}, {"role", "assistant"}, {"content", std::move(content)}};
}

json::object response_usage(const Usage& usage) {
  const auto input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return {{"input_tokens", input},
          {"input_tokens_details",
           json::object{{"cached_tokens", usage.cache_read_tokens}, {"cache_write_tokens", usage.cache_write_tokens}}},
          {"output_tokens", usage.output_tokens},
          {"output_tokens_details", json::object{{"reasoning_tokens", usage.reasoning_tokens}}},
          {"total_tokens", input + usage.output_tokens}};
}

class ResponseWriter : public AnswerWriter {
public:
  ResponseWriter(json::object shown, StoreResponse store, bool includes_reasoning, ResponseEvents events)
      : shown_(std::move(shown)),
        store_(std::move(store)),
        includes_reasoning_(includes_reasoning),
        tools_(tools_in(shown_.at("tools").as_array())),
        events_(std::move(events)) {}

  std::string_view name_of(const CallFeature& feature) const override { return feature.responses; }

  Task<> before_end(const ClientAnswer& answer) override {
    id_ = answer.id;
    out_.clear();
    if (items_.empty()) append_all(answer);
    if (!items_.empty()) items_.back().is_truncated = answer.stop == StopReason::length;
    append_blocks(answer);
    close_all();
    if (store_) co_await store_(answer, response(answer, status_of(answer)));
  }

  std::string body(const ClientAnswer& answer) override { return to_json(response(answer, status_of(answer))); }

  std::string begin(const ClientAnswer& answer) override {
    id_ = answer.id;
    out_.clear();
    event("response.created", {{"response", response(answer, "in_progress")}});
    event("response.in_progress", {{"response", response(answer, "in_progress")}});
    return std::exchange(out_, {});
  }

  std::string delta(const ClientAnswer& answer, const Delta& delta) override {
    if (delta.kind == Delta::Kind::provider_block) {
      append_block(answer, delta.text);
    } else if (delta.kind != Delta::Kind::service_tier) {
      append(delta);
    }
    return std::exchange(out_, {});
  }

  std::string end(const ClientAnswer& answer) override {
    AGW_DEBUG_ASSERT(std::ranges::all_of(items_, &OutputItem::done));
    auto events = std::exchange(closing_, {});
    out_.clear();
    const auto* status = status_of(answer);
    event(fmt::format("response.{}", status), {{"response", response(answer, status)}});
    return events + std::exchange(out_, {}) + last();
  }

  /// As OpenAI does. Codex recognizes a conversation that is too long only by it.
  bool tells_in_stream(const ApiError& error) const override {
    return string_member(error.extra(), "code") == "context_length_exceeded";
  }

  std::string fail(const ClientAnswer& answer, const ApiError& error) override {
    out_.clear();
    const auto code = string_or_empty(error.extra(), "code");
    if (tells_in_stream(error)) {
      json::object about{
          {"type", "invalid_request_error"}, {"code", code}, {"message", error.error()}, {"param", "input"}};
      event("error", {{"code", code}, {"message", error.error()}, {"param", "input"}, {"error", std::move(about)}});
    }
    auto failed = response(answer, "failed");
    failed["error"] = json::object{{"code", code.empty() ? "server_error" : code}, {"message", error.error()}};
    event("response.failed", {{"response", std::move(failed)}});
    return std::exchange(closing_, {}) + std::exchange(out_, {}) + last();
  }

  std::string keep_alive() const override { return events_.as_lines ? std::string() : AnswerWriter::keep_alive(); }

private:
  std::string last() const { return events_.as_lines ? "" : "data: [DONE]\n\n"; }

  static const char* status_of(const ClientAnswer& answer) {
    const bool is_truncated = answer.stop == StopReason::length || answer.stop == StopReason::content_filter;
    return is_truncated ? "incomplete" : "completed";
  }

  /// The service tier that answered, or the requested one if the service did not name it.
  json::value final_tier(const ClientAnswer& answer) const {
    if (!answer.service_tier.empty()) return json::value(answer.service_tier);
    const auto& asked = shown_.at("service_tier");
    return asked == "auto" ? json::value("default") : asked;
  }

  json::object response(const ClientAnswer& answer, std::string_view status) const {
    json::object object{{"id", "resp_" + answer.id}, {"object", "response"}, {"created_at", answer.created}};
    object["status"] = status;
    const bool is_final = status != "in_progress";
    object["completed_at"] = status == "completed" ? json::value(answer.created) : json::value();
    object["error"] = nullptr;
    object["incomplete_details"] = nullptr;
    object["access_programs"] = nullptr;
    if (status == "incomplete") {
      const bool is_filtered = answer.stop == StopReason::content_filter;
      object["incomplete_details"] = json::object{{"reason", is_filtered ? "content_filter" : "max_output_tokens"}};
    }
    object["model"] = answer.model;
    json::array output;
    for (const auto& item : items_) {
      if (is_final) output.push_back(item_members(item));
    }
    object["output"] = std::move(output);
    for (const auto& [name, value] : shown_) object[name] = value;
    if (is_final) object["service_tier"] = final_tier(answer);
    if (!answer.thread_id.empty()) object["conversation"] = json::object{{"id", answer.thread_id}};
    object["usage"] = is_final ? json::value(response_usage(answer.usage)) : json::value();
    return object;
  }

  void event(std::string_view type, const json::object& members) {
    json::object object{{"type", type}, {"sequence_number", sequence_++}};
    for (const auto& [name, value] : members) object[name] = value;
    if (!events_.stream_id.empty()) object["stream_id"] = events_.stream_id;
    out_ += events_.as_lines ? to_json(object) + '\n' : fmt::format("event: {}\ndata: {}\n\n", type, to_json(object));
  }

  std::size_t index_of(const OutputItem& item) const { return static_cast<std::size_t>(&item - items_.data()); }

  json::object location(const OutputItem& item, std::string_view part_index) const {
    json::object members{{"item_id", item.id}, {"output_index", index_of(item)}};
    if (!part_index.empty()) members[part_index] = 0;
    return members;
  }

  void item_event(std::string_view type, const OutputItem& item, std::string_view part_index,
                  const json::object& more) {
    auto members = location(item, part_index);
    for (const auto& [name, value] : more) members[name] = value;
    event(type, members);
  }

  OutputItem& open(OutputItem::Kind kind, const char* prefix) {
    AGW_ASSERT(!id_.empty());
    AGW_DEBUG_ASSERT(std::ranges::all_of(
        items_, [](const OutputItem& item) { return item.done || item.kind == OutputItem::Kind::call; }));
    auto& item = items_.emplace_back();
    item.kind = kind;
    item.id = fmt::format("{}_{}{}", prefix, id_, items_.size());
    return item;
  }

  void announce(const OutputItem& item) {
    event("response.output_item.added", {{"output_index", index_of(item)}, {"item", item_members(item)}});
    if (item.kind == OutputItem::Kind::message)
      item_event("response.content_part.added", item, "content_index", {{"part", text_part({})}});
  }

  /// Adds a block to the reasoning item before it; if there is none, as a separate item.
  void append_block(const ClientAnswer& answer, const std::string& json_text) {
    const auto block = parse_json(json_text);
    if (!block) return;
    ++appended_blocks_;
    if (includes_reasoning_) add_encrypted(answer, {*block});
  }

  void add_encrypted(const ClientAnswer& answer, const json::array& blocks) {
    const bool is_open = !items_.empty() && items_.back().kind == OutputItem::Kind::reasoning && !items_.back().done;
    if (!is_open) {
      close_whole();
      announce(open(OutputItem::Kind::reasoning, "rs"));
    }
    auto& item = items_.back();
    AGW_ASSERT(item.kind == OutputItem::Kind::reasoning);
    AGW_ASSERT(item.encrypted.empty());
    item.encrypted = to_signature({.model = answer.model, .blocks = blocks});
    close(item);
  }

  /// Adds the blocks that were not streamed.
  void append_blocks(const ClientAnswer& answer) {
    const auto& blocks = answer.provider_blocks;
    if (!includes_reasoning_ || appended_blocks_ >= blocks.size()) return;
    const auto rest = static_cast<std::ptrdiff_t>(appended_blocks_);
    add_encrypted(answer, json::array(blocks.begin() + rest, blocks.end()));
    appended_blocks_ = blocks.size();
  }

  void append(const Delta& delta) {
    using Kind = OutputItem::Kind;
    if (delta.kind == Delta::Kind::call) {
      close_whole();
      calls_.resize(std::max(calls_.size(), delta.call + 1));
      calls_[delta.call] = items_.size();
      auto& item = open(Kind::call, "fc");
      item.call_id = delta.id;
      item.name = delta.name;
      if (const auto found = tools_.find(delta.name); found != tools_.end()) {
        const auto& tool = found->second;
        item.space = tool.space;
        item.name = tool.name;
        item.takes_text = tool.takes_text;
        item.searches = tool.searches;
      }
      return announce(item);
    }
    if (delta.kind == Delta::Kind::arguments) {
      if (delta.call >= calls_.size()) return;
      auto& item = items_[calls_[delta.call]];
      AGW_ASSERT(item.kind == Kind::call);
      if (item.done) return;
      item.text += delta.text;
      if (item.takes_text || item.searches) return;
      return item_event("response.function_call_arguments.delta", item, {}, {{"delta", delta.text}});
    }
    const auto kind = delta.kind == Delta::Kind::text ? Kind::message : Kind::reasoning;
    if (items_.empty() || items_.back().kind != kind || items_.back().done) {
      close_whole();
      announce(open(kind, kind == Kind::message ? "msg" : "rs"));
    }
    auto& item = items_.back();
    item.text += delta.text;
    if (kind == Kind::message) {
      item_event("response.output_text.delta", item, "content_index",
                 {{"delta", delta.text}, {"logprobs", json::array()}});
    } else {
      if (item.text.size() == delta.text.size())
        item_event("response.reasoning_summary_part.added", item, "summary_index", {{"part", summary_part({})}});
      item_event("response.reasoning_summary_text.delta", item, "summary_index", {{"delta", delta.text}});
    }
  }

  void close(OutputItem& item) {
    AGW_ASSERT(index_of(item) < items_.size());
    if (std::exchange(item.done, true)) return;
    switch (item.kind) {
      case OutputItem::Kind::message:
        item_event("response.output_text.done", item, "content_index",
                   {{"text", item.text}, {"logprobs", json::array()}});
        item_event("response.content_part.done", item, "content_index", {{"part", text_part(item.text)}});
        break;
      case OutputItem::Kind::reasoning:
        if (item.text.empty()) break;
        item_event("response.reasoning_summary_text.done", item, "summary_index", {{"text", item.text}});
        item_event("response.reasoning_summary_part.done", item, "summary_index", {{"part", summary_part(item.text)}});
        break;
      case OutputItem::Kind::call:
        if (item.searches) break;
        if (item.takes_text) {
          item.text = free_text_in(std::move(item.text));
          item_event("response.custom_tool_call_input.delta", item, {}, {{"delta", item.text}});
          item_event("response.custom_tool_call_input.done", item, {}, {{"input", item.text}});
          break;
        }
        item_event("response.function_call_arguments.done", item, {}, {{"arguments", item.text}, {"name", item.name}});
    }
    event("response.output_item.done", {{"output_index", index_of(item)}, {"item", item_members(item)}});
  }

  /// Closes open items before the next one begins, except for calls with incomplete arguments, because some services
  /// interleave several calls.
  void close_whole() {
    for (auto& item : items_) {
      if (item.kind != OutputItem::Kind::call || (!item.done && parse_object(item.text))) close(item);
    }
  }

  void close_all() {
    AGW_ASSERT(closing_.empty());
    for (auto& item : items_) close(item);
    closing_ = std::exchange(out_, {});
  }

  /// Adds all items of an answer that is not streamed.
  void append_all(const ClientAnswer& answer) {
    if (!answer.reasoning.empty()) append({Delta::Kind::reasoning, answer.reasoning});
    append_blocks(answer);
    if (!answer.text.empty()) append({Delta::Kind::text, answer.text});
    for (std::size_t number = 0; number < answer.tool_uses.size(); ++number) {
      const auto& use = answer.tool_uses[number];
      append({Delta::Kind::call, {}, number, use.id, use.name});
      append({Delta::Kind::arguments, use.arguments_text(), number});
    }
  }

  const json::object shown_;
  const StoreResponse store_;
  const bool includes_reasoning_;
  const ProgramTools tools_;
  const ResponseEvents events_;
  std::string id_;  ///< of the answer; ids of items contain it, so that references find the response
  std::vector<OutputItem> items_;
  std::vector<std::size_t> calls_;   ///< the item of each call
  std::size_t appended_blocks_ = 0;  ///< number of the answer's provider blocks that were added
  std::int64_t sequence_ = 0;
  std::string out_;
  std::string closing_;  ///< the events that end the open items
};

}  // namespace

json::object reasoning_item(const std::string& model, const json::array& blocks) {
  return {{"type", "reasoning"},
          {"summary", json::array()},
          {"encrypted_content", to_signature({.model = model, .blocks = blocks})}};
}

std::unique_ptr<AnswerWriter> response_writer(json::object shown, StoreResponse store, bool includes_reasoning,
                                              ResponseEvents events) {
  return std::make_unique<ResponseWriter>(std::move(shown), std::move(store), includes_reasoning, std::move(events));
}

}  // namespace agw
