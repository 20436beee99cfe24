#include "features/context/history.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// The maximum length of names and ids that all services accept.
constexpr std::size_t max_call_name_length = 64;

std::string text_in(const std::optional<json::object>& metadata, std::string_view name) {
  return std::string(metadata ? string_member(*metadata, name).value_or("") : "");
}

const json::array* steps_of(const Turn& turn) {
  const auto* steps = turn.metadata ? turn.metadata->if_contains("steps") : nullptr;
  return steps ? steps->if_array() : nullptr;
}

std::string without_separators(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return std::string(text);
}

Message said(std::string text) {
  Message message;
  message.role = Message::Role::assistant;
  message.text = std::move(text);
  return message;
}

Message result_of(const Turn& turn, std::string id, std::string name) {
  AGW_ASSERT(turn.role == Role::tool);
  AGW_ASSERT(turn.metadata);
  AGW_ASSERT(!id.empty());
  Message message;
  message.role = Message::Role::tool;
  message.text = turn.content;
  message.tool_call_id = std::move(id);
  message.tool_name = std::move(name);
  message.is_error = is_true(*turn.metadata, "is_error");
  message.found_tools = strings_of(*turn.metadata, "found_tools");
  return message;
}

/// Adds the id to `used` and returns it; if it is already used, does so with a different one. Some services number the
/// calls of each answer from 1.
std::string unused_id(std::string id, std::set<std::string, std::less<>>& used) {
  const auto stem = id;
  for (int number = 2; !used.insert(id).second; ++number) {
    const auto tail = "_" + std::to_string(number);
    id = stem.substr(0, max_call_name_length - tail.size()) + tail;
  }
  AGW_ASSERT(id.size() <= max_call_name_length);
  AGW_DEBUG_ASSERT(used.contains(id));
  return id;
}

}  // namespace

std::string acceptable_name(std::string name) {
  if (name.empty()) name = "unnamed";
  name.resize(std::min(name.size(), max_call_name_length));
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-'; }, '_');
  AGW_ASSERT(!name.empty());
  AGW_ASSERT(name.size() <= max_call_name_length);
  return name;
}

ToolHistory::ToolHistory(const std::vector<Turn>& turns, MakeMessage user_message, const AnswerThoughts* thoughts)
    : user_message_(std::move(user_message)), thoughts_(thoughts) {
  for (const auto& turn : turns) {
    if (turn.role == Role::tool) {
      tool_turns_.emplace(std::pair(text_in(turn.metadata, "run_id"), text_in(turn.metadata, "tool_call_id")), &turn);
    } else if (turn.role == Role::assistant) {
      const auto* steps = steps_of(turn);
      if (steps) steps_.emplace(text_in(turn.metadata, "run_id"), static_cast<std::int64_t>(steps->size()));
    } else if (auto place = place_of(turn)) {
      steered_.emplace(*std::move(place), &turn);
    }
  }
}

std::optional<ToolHistory::StepPlace> ToolHistory::place_of(const Turn& turn) {
  const auto* step = turn.role == Role::user && turn.metadata ? turn.metadata->if_contains("after_step") : nullptr;
  if (!step || !step->is_int64() || step->get_int64() < 1) return std::nullopt;
  return StepPlace(text_in(turn.metadata, "run_id"), step->get_int64());
}

bool ToolHistory::is_in_answer(const Turn& turn) const {
  const auto place = place_of(turn);
  const auto steps = place ? steps_.find(place->first) : steps_.end();
  return steps != steps_.end() && place->second <= steps->second;
}

void ToolHistory::add_steered(std::vector<Message>& messages, const StepPlace& place) const {
  if (!user_message_) return;
  const auto [first, last] = steered_.equal_range(place);
  for (auto steered = first; steered != last; ++steered) {
    if (auto message = user_message_(*steered->second)) messages.push_back(*std::move(message));
  }
}

void ToolHistory::add_messages_of(const Turn& answer, std::vector<Message>& messages) {
  const auto before = messages.size();
  std::string_view rest = answer.content;
  std::int64_t passed = 0;
  const auto run_id = text_in(answer.metadata, "run_id");
  static const json::array none;
  const auto* steps = steps_of(answer);
  std::int64_t number = 0;
  for (const auto& step : steps ? *steps : none) {
    ++number;
    const auto* members = step.if_object();
    const auto* end = members ? members->if_contains("text_end") : nullptr;
    const auto* ids = members ? members->if_contains("tool_call_ids") : nullptr;
    if (!end || !end->is_int64() || !ids || !ids->is_array()) continue;
    const auto length = std::max(end->get_int64(), passed) - passed;
    const auto text = first_characters(rest, static_cast<std::size_t>(length));
    auto message = said(without_separators(text));
    add_thoughts(message, answer, number);
    add_step(messages, std::move(message), ids->get_array(), run_id);
    add_steered(messages, {run_id, number});
    passed += count_characters(text);
    AGW_ASSERT(text.size() <= rest.size());
    rest.remove_prefix(text.size());
  }
  auto last = messages.size() == before ? std::string(rest) : without_separators(rest);
  if (last.empty()) return;
  add_thoughts(messages.emplace_back(said(std::move(last))), answer, number + 1);
}

void ToolHistory::add_thoughts(Message& message, const Turn& answer, std::int64_t step) const {
  if (!thoughts_) return;
  const auto found = thoughts_->find(answer.id);
  if (found == thoughts_->end()) return;
  const auto thoughts = std::ranges::find(found->second, step, &StepThoughts::step);
  if (thoughts == found->second.end()) return;
  message.provider_blocks = thoughts->blocks;
  message.provider_blocks_of = thoughts->model;
}

void ToolHistory::add_step(std::vector<Message>& messages, Message step, const json::array& call_ids,
                           const std::string& run_id) {
  std::vector<Message> results;
  for (const auto& call_id : call_ids) {
    if (!call_id.is_string()) continue;
    const auto turn = tool_turns_.find(std::pair(run_id, std::string(call_id.get_string())));
    if (turn == tool_turns_.end() || !turn->second->metadata) continue;
    const auto id = unused_id(acceptable_name(turn->first.second), used_ids_);
    const auto name = acceptable_name(text_in(turn->second->metadata, "tool_name"));
    step.tool_uses.push_back({id, name, object_or_empty(*turn->second->metadata, "input")});
    results.push_back(result_of(*turn->second, id, name));
  }
  // Services refuse a call without its result.
  AGW_ASSERT(step.tool_uses.size() == results.size());
  if (step.text.empty() && results.empty()) return;
  messages.push_back(std::move(step));
  std::ranges::move(results, std::back_inserter(messages));
}

void make_call_ids_unique(std::span<Message> earlier, const std::set<std::string, std::less<>>& taken) {
  auto used = taken;
  std::map<std::string, std::string, std::less<>> renamed;
  for (const auto& message : earlier) {
    for (const auto& use : message.tool_uses) {
      if (taken.contains(use.id)) renamed.emplace(use.id, "");
      used.insert(use.id);
    }
  }
  for (auto& [id, other] : renamed) other = unused_id(id, used);
  AGW_ASSERT(std::ranges::none_of(renamed, [&](const auto& each) { return taken.contains(each.second); }));
  const auto rename = [&](std::string& id) {
    if (const auto found = renamed.find(id); found != renamed.end()) id = found->second;
  };
  for (auto& message : earlier) {
    for (auto& use : message.tool_uses) rename(use.id);
    rename(message.tool_call_id);
  }
}

}  // namespace agw
