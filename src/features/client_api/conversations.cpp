#include "features/client_api/conversations.hpp"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/client_api/store.hpp"

namespace agw {

namespace {

constexpr std::string_view program_text_member = "program_text";

std::string text_for_program(const Turn& turn) {
  const auto text = turn.metadata ? string_member(*turn.metadata, program_text_member) : std::nullopt;
  return text ? std::string(*text) : turn.content;
}

Conversation conversation_of(const std::vector<Turn>& newest_first) {
  Conversation conversation;
  for (const auto& turn : std::views::reverse(newest_first)) {
    if (turn.metadata && is_true(*turn.metadata, "superseded")) continue;
    if (turn.role == Role::user || turn.role == Role::assistant) conversation.add(turn.role, text_for_program(turn));
  }
  return conversation;
}

}  // namespace

json::object program_text(std::string text) { return {{program_text_member, std::move(text)}}; }

void Conversation::add(Role role, std::string_view text) {
  if (is_blank(text)) return;
  if (last_ != role) text_ += role == Role::user ? '\1' : '\2';
  last_ = role;
  for (const char c : text) {
    if (white_space.find(c) == white_space.npos) text_ += c;
  }
}

std::string Conversation::hash(const std::string& agent_id) const { return to_hex(sha256(agent_id + text_)); }

bool Conversation::ends_with(const Conversation& end) const {
  // More of the same role may come before it.
  return end.empty() || text_.ends_with(std::string_view(end.text_).substr(1));
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
      if (page.empty()) co_return conversation == conversation_of(turns);
      before = page.back().id;
      turns.insert(turns.end(), page.begin(), page.end());
      if (!conversation.ends_with(conversation_of(turns))) co_return false;
    }
  } catch (const ApiError&) {
    co_return false;  // the thread or a turn was deleted
  }
}

}  // namespace agw
