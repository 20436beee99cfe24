#include "cli/acp/event_updates.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "cli/acp/tool_call_update.hpp"

namespace agw::cli {

namespace {

json::object update_of(std::string_view kind, json::object members = {}) {
  members["sessionUpdate"] = kind;
  return members;
}

json::object chunk(std::string_view kind, std::string_view text, const std::string& message = {}) {
  auto update = update_of(kind, {{"content", text_block(text)}});
  if (!message.empty()) update["messageId"] = message;
  return update;
}

std::string_view plan_status(const std::string& status) {
  return status == "active" ? "in_progress" : status == "done" ? "completed" : "pending";
}

std::string_view without_leading_lines(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text;
}

std::size_t position(std::string_view text, const json::object& step) {
  const auto* end = step.if_contains("text_end");
  const auto count = end && end->is_int64() ? std::max<std::int64_t>(0, end->get_int64()) : 0;
  return first_characters(text, static_cast<std::size_t>(count)).size();
}

/// Models number the calls of each answer anew.
std::string call_id(std::string_view run, std::string_view id) { return fmt::format("{}/{}", run, id); }

void add_pictures(std::vector<json::object>& updates, const json::object& turn) {
  const auto metadata = object_or_empty(turn, "metadata");
  const auto* files = array_member(metadata, "attachments");
  if (!files) return;
  for (const auto& file : *files) {
    if (!string_or_empty(file.as_object(), "mime").starts_with("image/")) continue;
    updates.push_back(update_of("user_message_chunk", {{"content", file}, {"messageId", string_or_empty(turn, "id")}}));
  }
}

bool is_superseded(const json::object& turn) { return is_true(object_or_empty(turn, "metadata"), "superseded"); }

}  // namespace

json::object notice(std::string_view severity, std::string_view title, std::string_view description) {
  auto update = update_of("notice", {{"severity", severity}, {"title", title}});
  if (!description.empty()) update["description"] = description;
  return update;
}

std::vector<json::object> EventUpdates::of(const json::object& event) {
  const auto type = string_or_empty(event, "type");
  const auto delta = string_or_empty(event, "delta");
  if (type == "text-delta") {
    auto update = text_chunk(string_or_empty(event, "runId"), delta);
    return update.empty() ? std::vector<json::object>() : std::vector{std::move(update)};
  }
  if (type == "reasoning-delta") return {chunk("agent_thought_chunk", delta)};
  if (type == "tool-start") return {begin_call(event)};
  if (type == "tool-end") return {end_call(event)};
  if (type == "finish" || type == "stopped") calls_.clear();
  if (type == "tasks-updated") {
    const auto* tasks = array_member(event, "tasks");
    return {plan(tasks ? *tasks : json::array())};
  }
  return type == "thread-updated" ? of_thread(event) : std::vector<json::object>();
}

/// Text after a call starts a separate message, so that editors show the call in between.
json::object EventUpdates::text_chunk(const std::string& run, std::string_view text) {
  if (run_ != run) {
    run_ = run;
    message_ = 0;
    is_new_message_ = true;
  }
  if (is_new_message_) text = without_leading_lines(text);
  if (text.empty()) return {};
  if (std::exchange(is_new_message_, false)) ++message_;
  return chunk("agent_message_chunk", text, fmt::format("{}/{}", run, message_));
}

json::object EventUpdates::begin_call(const json::object& event) {
  is_new_message_ = true;
  const auto id = call_id(string_or_empty(event, "runId"), string_or_empty(event, "toolCallId"));
  const auto tool = string_or_empty(event, "toolName");
  const auto input = object_or_empty(event, "input");
  auto members = next_call_members(tool, input, context_.directory);
  calls_[id] = {tool, input, members.contains("content")};
  members["toolCallId"] = id;
  members["status"] = "in_progress";
  return update_of("tool_call", std::move(members));
}

json::object EventUpdates::end_call(const json::object& event) {
  is_new_message_ = true;
  const auto id = call_id(string_or_empty(event, "runId"), string_or_empty(event, "toolCallId"));
  const auto found = calls_.find(id);
  const bool has_diff = found != calls_.end() && found->second.has_diff;
  auto members = tool_result_members(string_or_empty(event, "output"), is_true(event, "isError"), has_diff);
  members["toolCallId"] = id;
  if (found != calls_.end()) calls_.erase(found);
  return update_of("tool_call_update", std::move(members));
}

json::object EventUpdates::plan(const json::array& tasks) {
  json::array entries;
  for (const auto& task : tasks) {
    const auto& members = task.as_object();
    entries.push_back(json::object{{"content", string_or_empty(members, "text")},
                                   {"priority", "medium"},
                                   {"status", plan_status(string_or_empty(members, "status"))}});
  }
  return update_of("plan", {{"entries", std::move(entries)}});
}

std::vector<json::object> EventUpdates::of_thread(const json::object& event) {
  std::vector<json::object> updates;
  const auto thread = object_or_empty(event, "thread");
  const auto title = string_or_empty(thread, "title");
  const auto updated = string_or_empty(thread, "updated_at");
  if (is_true(event, "compacted") && context_.shows_compaction) {
    updates.push_back(
        update_of("compaction_update", {{"compactionId", "compaction-" + updated}, {"status", "completed"}}));
  }
  json::object info{{"updatedAt", updated}};
  if (title != title_) info["title"] = title;
  title_ = title;
  updates.push_back(update_of("session_info_update", std::move(info)));
  return updates;
}

json::object EventUpdates::user_message(const json::object& turn) {
  return chunk("user_message_chunk", string_or_empty(turn, "content"), string_or_empty(turn, "id"));
}

void EventUpdates::keep_content(const std::string& call_id) {
  if (const auto found = calls_.find(call_id); found != calls_.end()) found->second.has_diff = true;
}

std::string EventUpdates::shown_id(std::string_view id) const {
  const auto found = std::ranges::find_if(
      calls_, [&](const auto& call) { return std::string_view(call.first).substr(call.first.find('/') + 1) == id; });
  return found == calls_.end() ? std::string() : found->first;
}

std::string EventUpdates::active_call(const std::string& tool, const json::object& input) const {
  const auto found = std::ranges::find_if(
      calls_, [&](const auto& call) { return call.second.tool == tool && call.second.input == input; });
  return found == calls_.end() ? std::string() : found->first;
}

std::vector<json::object> EventUpdates::replay(const std::vector<json::object>& turns) {
  std::vector<json::object> updates;
  // Calls are stored before the answer that refers to them.
  std::map<std::string, const json::object*> calls;
  for (const auto& turn : turns) {
    if (is_superseded(turn)) continue;
    const auto role = string_or_empty(turn, "role");
    if (role == "user") {
      updates.push_back(user_message(turn));
      add_pictures(updates, turn);
    }
    if (role == "tool") {
      const auto metadata = object_or_empty(turn, "metadata");
      calls[call_id(string_or_empty(metadata, "run_id"), string_or_empty(metadata, "tool_call_id"))] = &turn;
    }
    if (role == "assistant") add_answer(updates, turn, calls);
  }
  return updates;
}

void EventUpdates::add_answer(std::vector<json::object>& updates, const json::object& turn,
                              std::map<std::string, const json::object*>& calls) {
  const auto content = string_or_empty(turn, "content");
  const auto metadata = object_or_empty(turn, "metadata");
  const auto run_id = string_member(metadata, "run_id");
  const auto run = run_id ? std::string(*run_id) : string_or_empty(turn, "id");
  const auto* steps = array_member(metadata, "steps");
  if (const auto reasoning = string_or_empty(metadata, "reasoning"); !reasoning.empty())
    updates.push_back(chunk("agent_thought_chunk", reasoning));
  std::size_t begin = 0;
  const auto add_text = [&](std::size_t end) {
    auto update = text_chunk(run, std::string_view(content).substr(begin, end - begin));
    if (!update.empty()) updates.push_back(std::move(update));
    begin = end;
  };
  for (const auto& entry : steps ? *steps : json::array()) {
    const auto& step = entry.as_object();
    add_text(std::max(begin, position(content, step)));
    add_calls(updates, run, strings_of(step, "tool_call_ids"), calls);
  }
  add_text(content.size());
}

void EventUpdates::add_calls(std::vector<json::object>& updates, const std::string& run,
                             const std::vector<std::string>& ids, std::map<std::string, const json::object*>& calls) {
  is_new_message_ = true;
  for (const auto& id : ids) {
    const auto found = calls.find(call_id(run, id));
    if (found == calls.end()) continue;
    const auto metadata = object_or_empty(*found->second, "metadata");
    const auto tool = string_or_empty(metadata, "tool_name");
    auto members = tool_call_members(tool, object_or_empty(metadata, "input"), context_.directory);
    const bool has_diff = members.contains("content");
    for (auto& member :
         tool_result_members(string_or_empty(*found->second, "content"), is_true(metadata, "is_error"), has_diff)) {
      members[member.key()] = std::move(member.value());
    }
    members["toolCallId"] = found->first;
    updates.push_back(update_of("tool_call", std::move(members)));
    calls.erase(found);
  }
}

}  // namespace agw::cli
