#include "features/client_api/conversations.hpp"

#include <ranges>
#include <utility>

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

ContinuedThreads::ContinuedThreads(Database& database, Threads& threads) : database_(database), threads_(threads) {}

Task<std::optional<Thread>> ContinuedThreads::find(std::string agent_id, Conversation conversation) {
  const auto hash = conversation.hash(agent_id);
  const auto id =
      co_await database_.read([hash](Connection& connection) { return client_store::find_thread(connection, hash); });
  if (!id) co_return std::nullopt;
  try {
    auto thread = co_await threads_.require(*id);
    const bool is_same = thread.agent_id == agent_id && (co_await conversation_of(*id)).hash(agent_id) == hash;
    co_return is_same ? std::optional(std::move(thread)) : std::nullopt;
  } catch (const NotFound&) {
    co_return std::nullopt;
  }
}

Task<> ContinuedThreads::store(std::string thread_id, std::string hash) {
  co_await database_.write(
      [thread_id, hash](Connection& connection) { client_store::put_thread(connection, thread_id, hash); });
}

Task<Conversation> ContinuedThreads::conversation_of(std::string thread_id) {
  std::vector<Turn> turns;  // newest first
  for (std::optional<std::string> before;;) {
    const auto page = co_await threads_.turns(thread_id, {.limit = {200}, .before = before});
    if (page.empty()) break;
    before = page.back().id;
    turns.insert(turns.end(), page.begin(), page.end());
  }
  Conversation conversation;
  for (const auto& turn : std::views::reverse(turns)) {
    if (turn.metadata && is_true(*turn.metadata, "superseded")) continue;
    if (turn.role == Role::user || turn.role == Role::assistant) conversation.add(turn.role, text_for_program(turn));
  }
  co_return conversation;
}

}  // namespace agw
