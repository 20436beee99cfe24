#include "features/client_api/conversations.hpp"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/client_api/store.hpp"
#include "models/json_reader.hpp"

namespace agw {

namespace {

constexpr std::string_view program_text_member = "program_text";
constexpr std::string_view program_pictures_member = "program_pictures";

std::string text_for_program(const Turn& turn) {
  const auto text = turn.metadata ? string_member(*turn.metadata, program_text_member) : std::nullopt;
  return text ? std::string(*text) : turn.content;
}

/// Pictures that people attached are unknown to programs: their ids equal no digest.
std::vector<std::string> pictures_for_program(const Turn& turn) {
  if (!turn.metadata) return {};
  const auto& metadata = *turn.metadata;
  if (metadata.contains(program_pictures_member) || metadata.contains(program_text_member))
    return strings_of(metadata, program_pictures_member);
  std::vector<std::string> ids;
  const auto* files = array_member(metadata, "attachments");
  for (const auto& file : files ? *files : json::array()) {
    const auto* object = file.if_object();
    if (object && string_or_empty(*object, "mime").starts_with("image/")) ids.push_back(string_or_empty(*object, "id"));
  }
  return ids;
}

/// The number of steps of an answer, or the step after which a message was steered into it; otherwise 0.
std::int64_t step_of(const Turn& turn) {
  if (!turn.metadata) return 0;
  if (turn.role == Role::user) return count_member(*turn.metadata, "after_step").value_or(0);
  const auto* steps = array_member(*turn.metadata, "steps");
  return steps ? static_cast<std::int64_t>(steps->size()) : 0;
}

/// The number of characters in the answer's first steps.
std::int64_t end_of_step(const Turn& answer, std::int64_t step) {
  if (step < 1 || step > step_of(answer)) return 0;
  const auto* members = answer.metadata->at("steps").as_array()[static_cast<std::size_t>(step) - 1].if_object();
  return members ? count_member(*members, "text_end").value_or(0) : 0;
}

/// Reads turns, oldest first. A message that was steered into an answer divides its text, as it did for the program.
class TurnReader {
public:
  /// `begins_thread`: the first turn is the first of its thread.
  explicit TurnReader(bool begins_thread) : knows_steered_(begins_thread) {}

  void read(const Turn& turn) {
    if (turn.metadata && is_true(*turn.metadata, "superseded")) return;
    if (turn.role == Role::user && step_of(turn) > 0) {
      steered_.push_back(&turn);
    } else if (turn.role == Role::user) {
      add_user(turn);
    } else if (turn.role == Role::assistant) {
      add_answer(turn);
    }
  }

  Conversation end() {
    for (const auto* turn : steered_) add_user(*turn);  // their answer was deleted
    return std::move(conversation_);
  }

private:
  void add_user(const Turn& turn) { conversation_.add(Role::user, text_for_program(turn), pictures_for_program(turn)); }

  void add_answer(const Turn& answer) {
    const auto text = text_for_program(answer);
    std::string_view rest = text;
    std::int64_t passed = 0;
    const auto take_until = [&](std::int64_t end) {
      const auto part = first_characters(rest, static_cast<std::size_t>(std::max(end, passed) - passed));
      passed = std::max(end, passed);
      rest.remove_prefix(part.size());
      return part;
    };
    // Messages that were steered into it may come before the first turn, but not before another answer. Only the text
    // after the last step certainly follows all of them.
    if (!std::exchange(knows_steered_, true) && step_of(answer) > 0) {
      steered_.clear();
      conversation_ = {};
      take_until(end_of_step(answer, step_of(answer)));
    }
    for (const auto* turn : std::exchange(steered_, {})) {
      conversation_.add(Role::assistant, take_until(end_of_step(answer, step_of(*turn))));
      add_user(*turn);
    }
    conversation_.add(Role::assistant, rest);
  }

  Conversation conversation_;
  std::vector<const Turn*> steered_;  ///< into the next answer
  bool knows_steered_;                ///< whether all messages that were steered into the next answer are read
};

/// The conversation of a thread's newest turns; `is_whole`: of all its turns.
Conversation conversation_of(const std::vector<Turn>& newest_first, bool is_whole) {
  TurnReader reader(is_whole);
  for (const auto& turn : std::views::reverse(newest_first)) reader.read(turn);
  return reader.end();
}

}  // namespace

json::object program_text(std::string text) { return {{program_text_member, std::move(text)}}; }

void add_program_pictures(json::object& metadata, const std::vector<std::string>& digests) {
  if (!digests.empty()) metadata[program_pictures_member] = json::array(digests.begin(), digests.end());
}

void Conversation::add(Role role, std::string_view text, const std::vector<std::string>& pictures) {
  for (const auto& picture : pictures) pictures_ += picture;
  if (is_blank(text)) return;
  if (last_ != role) text_ += role == Role::user ? '\1' : '\2';
  last_ = role;
  for (const char c : text) {
    if (white_space.find(c) == white_space.npos) text_ += c;
  }
}

std::string Conversation::hash(const std::string& agent_id) const {
  return to_hex(sha256(agent_id + text_ + pictures_));
}

bool Conversation::ends_with(const Conversation& end) const {
  // More of the same role may come before it.
  return pictures_.ends_with(end.pictures_) &&
         (end.text_.empty() || text_.ends_with(std::string_view(end.text_).substr(1)));
}

ContinuedThreads::ContinuedThreads(Database& database, Threads& threads) : database_(database), threads_(threads) {}

Task<std::optional<std::string>> ContinuedThreads::find(std::string agent_id, Conversation conversation) {
  const auto hash = conversation.hash(agent_id);
  auto id =
      co_await database_.read([hash](Connection& connection) { return client_store::find_thread(connection, hash); });
  if (id && co_await is_conversation_of(*id, conversation)) co_return id;
  for (auto& thread : co_await threads_.list({.agent_id = agent_id, .archived = true, .limit = {{max_compared}}})) {
    if (co_await is_conversation_of(thread.id, conversation)) co_return std::move(thread.id);
  }
  co_return std::nullopt;
}

Task<> ContinuedThreads::store(std::string thread_id, std::string hash) {
  co_await database_.write(
      [thread_id, hash](Connection& connection) { client_store::put_thread(connection, thread_id, hash); });
}

/// Reads the latest turns first, a few, then more: most other threads end differently.
Task<bool> ContinuedThreads::is_conversation_of(std::string thread_id, Conversation conversation) {
  std::vector<Turn> turns;  // newest first
  std::optional<std::string> before;
  try {
    for (int limit = 1;; limit = std::min(10 * limit, 1000)) {
      const auto page = co_await threads_.turns(thread_id, {.limit = {limit}, .before = before});
      if (page.empty()) co_return conversation == conversation_of(turns, true);
      before = page.back().id;
      turns.insert(turns.end(), page.begin(), page.end());
      if (!conversation.ends_with(conversation_of(turns, false))) co_return false;
    }
  } catch (const ApiError&) {
    co_return false;  // the thread or a turn was deleted
  }
}

}  // namespace agw
