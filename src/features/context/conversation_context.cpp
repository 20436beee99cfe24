#include "features/context/conversation_context.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "features/context/compaction.hpp"
#include "features/context/deferred_tools_store.hpp"
#include "features/context/service.hpp"
#include "features/context/summary_store.hpp"

namespace agw {

namespace {

/// A summary is made from at most this many times the budget of turns; older turns are only counted.
constexpr std::size_t max_summarised_windows = 4;

/// The summary, unless its turns have changed, and the newest turns that fit together with it.
struct StoredConversation {
  std::optional<ThreadSummary> summary;
  ThreadContext context;
};

StoredConversation load_stored(Connection& connection, const std::string& thread_id, const std::string& question_id,
                               std::size_t max_bytes) {
  StoredConversation conversation{summary_store::find(connection, thread_id), {}};
  auto& [summary, context] = conversation;
  const auto summarised = summary ? std::optional(summary->turns) : std::nullopt;
  const auto budget = max_bytes - std::min(max_bytes / 2, summary ? summary->text.size() : 0);
  context = Threads::context(connection, thread_id, question_id, budget, summarised);
  if (!context.summary_holds) summary.reset();
  return conversation;
}

/// A conversation that does not fit: the turns to summarise, and those that stay in full.
struct SplitConversation {
  std::vector<Turn> older;
  SummarisedTurns summarised;  ///< `older` and all turns before them, as of when they were read
  std::vector<Turn> turns;
  std::int64_t left_out = 0;  ///< turns before `turns` that no summary covers
  bool summary_holds = false;
};

SplitConversation split_conversation(Connection& connection, const std::string& question_id, std::size_t budget,
                                     const std::optional<SummarisedTurns>& summarised) {
  auto context =
      Threads::context_to_summarise(connection, question_id, budget, max_summarised_windows * budget, summarised);
  SplitConversation split;
  // Only the beginnings of these are known, so they cannot stay in full. The question is never among them.
  AGW_ASSERT(context.cut_short <= context.turns.size());
  AGW_ASSERT(!context.summary_holds || summarised);
  split.older = remove_oldest(context.turns, budget / 2, context.cut_short);
  split.turns = std::move(context.turns);
  AGW_DEBUG_ASSERT(!split.turns.empty());
  AGW_DEBUG_ASSERT(split.turns.back().id == question_id);
  split.summary_holds = context.summary_holds;
  if (split.older.empty()) return split;
  split.summarised = Threads::summarise_up_to(connection, split.older.back().id);
  const auto known = context.summary_holds ? summarised->count : 0;
  split.left_out = split.summarised.count - known - static_cast<std::int64_t>(split.older.size());
  return split;
}

/// Adds the number of turns that the summary does not cover, if any.
std::string with_omission_note(std::string summary, std::int64_t left_out) {
  if (left_out <= 0) return summary;
  return fmt::format("({} turns of the conversation are too far back for this summary.)\n\n{}", left_out, summary);
}

}  // namespace

std::vector<std::string> found_tools(Connection& connection, const std::string& thread_id) {
  return found_tools_store::list(connection, thread_id);
}

void copy_found_tools_to_fork(Connection& connection, const Fork& fork) {
  const auto found = found_tools(connection, fork.original_id);
  if (!found.empty()) found_tools_store::add(connection, fork.copy_id, found);
}

void copy_summary_to_fork(Connection& connection, const Fork& fork, Timestamp now) {
  AGW_ASSERT(fork.copy_id != fork.original_id);
  auto summary = summary_store::find(connection, fork.original_id);
  if (!summary || !Threads::are_turns_unchanged(connection, summary->turns)) return;
  const auto last = fork.copy_of(summary->turns.last_turn_id);
  if (!last) return;
  summary->turns.last_turn_id = *last;
  summary_store::put_if_current(connection, fork.copy_id, *summary, now);
}

Task<ConversationContext> load_context(Database& database, const Clock& clock, Threads& threads, std::string thread_id,
                                       ContextRequest request) {
  const auto [question_id, max_bytes, summarise, stores_summary] = std::move(request);
  auto [stored, context] = co_await database.read([thread_id, question_id, max_bytes](Connection& connection) {
    return load_stored(connection, thread_id, question_id, max_bytes);
  });
  AGW_DEBUG_ASSERT(!context.turns.empty());
  if (context.is_whole) co_return ConversationContext{stored ? stored->text : "", std::move(context.turns)};

  auto split = co_await database.read(
      [question_id, max_bytes, known = stored ? std::optional(stored->turns) : std::nullopt](Connection& connection) {
        return split_conversation(connection, question_id, max_bytes, known);
      });
  if (!split.summary_holds) stored.reset();
  const auto earlier = stored ? stored->text : "";
  if (split.older.empty()) co_return ConversationContext{earlier, std::move(split.turns)};
  auto text = co_await summarise(earlier, std::move(split.older));
  if (!text) co_return ConversationContext{earlier, std::move(split.turns)};
  const ThreadSummary summary{split.summarised, with_omission_note(*std::move(text), split.left_out)};
  const bool is_current =
      !stores_summary || co_await database.write([thread_id, summary, now = clock.now()](Connection& connection) {
        return summary_store::put_if_current(connection, thread_id, summary, now);
      });
  if (is_current) threads.announce_compaction(co_await threads.require(thread_id));
  co_return ConversationContext{summary.text, std::move(split.turns)};
}

}  // namespace agw
