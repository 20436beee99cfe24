// Stores turns, and selects the turns of a conversation that fit a model's window (`fitting`).
//
// The *place* of a turn is that of the question it answers, or its own number. Numbers follow the order of insertion.
// The order by place differs from it only if a question was asked again.
//
// `fitting` walks back from the newest turn. It keeps whole turns up to one limit, then beginnings of turns up to
// another, and stops at the last turn of a summary. The walk may stop at the first turn number below the summary's
// place, because a turn's place is never greater than its number.
//
// A summary is valid only while its last turn is not superseded, and the conversation has as many turns up to that one
// as when it was written. So deleting a turn or asking an earlier question again invalidates it, and deleted text does
// not survive in a summary.

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/array_text.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/events/hub.hpp"
#include "features/runs/service.hpp"
#include "features/threads/search.hpp"
#include "features/threads/search_indexer.hpp"
#include "features/threads/search_store.hpp"
#include "features/threads/service.hpp"
#include "features/threads/thread_store.hpp"
#include "features/threads/turn_store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

/// Orders the turns of a conversation: place and number.
using SortKey = std::pair<std::int64_t, std::int64_t>;

SortKey sort_key(const turn_store::StoredTurn& stored) { return {stored.place(), stored.number}; }

/// How much of a turn is read to summarise it.
constexpr std::size_t max_prefix_length = 4'000;

/// Content from this size on, in bytes, is not serialised on the loop.
constexpr std::size_t long_content = 256 * 1024;

/// `turn` must outlive the event.
DomainEvent created(const Turn& turn) {
  return {
      .name = "turn.created", .type = "turn-created", .thread_id = turn.thread_id, .member = "turn", .record = turn};
}

/// Limits in bytes: of whole turns, and of the truncated turns before them.
struct Bounds {
  std::size_t whole = 0;
  std::size_t beginnings = 0;
};

/// A turn of a conversation, whole or truncated.
struct KeptTurn {
  Turn turn;
  SortKey key;
  bool is_cut = false;
};

void cut_short(Turn& turn) {
  turn.metadata.reset();
  if (turn.content.size() <= max_prefix_length) return;
  turn.content.resize(utf8_prefix(turn.content, max_prefix_length).size());
  turn.content += "…";
}

/// Reorders from newest first to the order of the conversation. Sorting is needed only if a question was asked again.
ThreadContext in_order(std::vector<KeptTurn> kept) {
  const std::ranges::greater newest_first;
  if (!std::ranges::is_sorted(kept, newest_first, &KeptTurn::key))
    std::ranges::sort(kept, newest_first, &KeptTurn::key);
  ThreadContext context;
  context.turns.reserve(kept.size());
  for (auto& [turn, key, is_cut] : kept | std::views::reverse) {
    context.turns.push_back(std::move(turn));
    if (is_cut) context.cut_short = context.turns.size();
  }
  AGW_ASSERT(context.cut_short <= context.turns.size());
  return context;
}

/// The last of the summarised turns; no value if the turns up to it have changed.
std::optional<turn_store::StoredTurn> find_last(Connection& connection, const SummarisedTurns& summarised) {
  auto last = turn_store::find(connection, summarised.last_turn_id);
  if (!last) return std::nullopt;
  // The answers to a question that was asked again may be as many as the turns that they supersede.
  const bool is_superseded = last->turn.metadata && is_true(*last->turn.metadata, "superseded");
  if (is_superseded || turn_store::count_up_to(connection, *last) != summarised.count) return std::nullopt;
  return last;
}

/// Like find_last, but no value unless that turn precedes the question.
std::optional<turn_store::StoredTurn> last_of(Connection& connection, const turn_store::StoredTurn& question,
                                              const std::optional<SummarisedTurns>& summarised) {
  auto last = summarised ? find_last(connection, *summarised) : std::nullopt;
  if (last && (last->thread != question.thread || sort_key(*last) >= sort_key(question))) last.reset();
  return last;
}

/// The newest turns that fit and follow the summarised ones, in the order of the conversation.
ThreadContext fitting(Connection& connection, const turn_store::StoredTurn& question, const Bounds& bounds,
                      const std::optional<SummarisedTurns>& summarised) {
  const auto last = last_of(connection, question, summarised);
  bool is_whole = true;
  std::vector<KeptTurn> kept;
  std::size_t size = 0;
  std::size_t beginnings = 0;
  turn_store::walk_back(connection, question, [&](turn_store::StoredTurn stored) {
    AGW_ASSERT(stored.thread == question.thread);
    AGW_DEBUG_ASSERT(stored.place() <= stored.number);
    AGW_DEBUG_ASSERT(kept.empty() || stored.number < kept.back().key.second);
    // A turn's place is never greater than its number, so no turn further back can follow the summary.
    if (last && stored.number < last->place()) return false;
    if (last && sort_key(stored) <= sort_key(*last)) return true;
    size += stored.bytes;
    const bool fits = size <= bounds.whole || stored.number == question.number;
    if (!fits) {
      is_whole = false;
      beginnings += std::min(stored.bytes, max_prefix_length);
      if (beginnings >= bounds.beginnings) return stored.number > question.number;
      cut_short(stored.turn);
    }
    kept.emplace_back(std::move(stored.turn), sort_key(stored), !fits);
    return true;
  });
  auto context = in_order(std::move(kept));
  context.is_whole = is_whole;
  context.summary_holds = last.has_value();
  return context;
}

turn_store::StoredTurn find_question(Connection& connection, const std::string& turn_id) {
  auto stored = turn_store::require(connection, turn_id);
  if (stored.turn.role == Role::user) return stored;
  auto question =
      stored.answers ? turn_store::find(connection, *stored.answers) : turn_store::user_turn_before(connection, stored);
  if (!question) throw turn_not_found();
  return *std::move(question);
}

}  // namespace

PreparedTurn Threads::prepare(AddTurn&& wanted) {
  if (wanted.replaces) {
    if (!wanted.metadata) wanted.metadata.emplace();
    (*wanted.metadata)["replaces"] = *wanted.replaces;
  }
  return {.turn = {.id = wanted.id ? std::move(*wanted.id) : new_id(),
                   .thread_id = std::move(wanted.thread_id),
                   .role = wanted.role,
                   .content = std::move(wanted.content),
                   .metadata = std::move(wanted.metadata),
                   .created_at = clock_.now()},
          .in_reply_to = std::move(wanted.in_reply_to),
          .replaces = std::move(wanted.replaces),
          .moment = next_moment()};
}

AddedTurn Threads::insert_in(Connection& connection, PreparedTurn prepared) {
  AGW_ASSERT(connection.in_transaction());
  auto thread = turn_store::insert(connection, prepared);
  AGW_ASSERT(thread.id == prepared.turn.thread_id);
  AddedTurn added{.turn = std::move(prepared.turn), .thread = std::move(thread)};
  if (added.turn.content.size() >= long_content) added.message = created(added.turn).message();
  return added;
}

void Threads::announce(const Turn& turn, const Thread& thread, std::shared_ptr<const std::string> message) {
  // The write has set it.
  AGW_ASSERT(thread.id == turn.thread_id);
  indexer_->wake();
  auto event = created(turn);
  event.made_message = std::move(message);
  hub_.publish(event);
  publish(thread);
}

Task<Turn> Threads::add_turn(AddTurn wanted, InTransaction<Turn> in_transaction) {
  const bool is_long = wanted.content.size() >= long_content;
  const bool is_like_others = !is_long && !in_transaction && !wanted.in_reply_to && !wanted.replaces;
  // Shared, because a write may run again and copies its closure.
  const auto added = std::make_shared<turn_store::Insertion>(prepare(std::move(wanted)));
  SharedMessage message;
  if (is_like_others) {
    co_await database_.insert<turn_store::insert_all, turn_store::Insertion>(added);
  } else {
    message = co_await database_.write([added, in_transaction, is_long](Connection& connection) {
      added->thread = turn_store::insert(connection, added->prepared);
      if (in_transaction) in_transaction(connection, added->prepared.turn);
      return is_long ? created(added->prepared.turn).message() : nullptr;
    });
  }
  announce(added->prepared.turn, added->thread, std::move(message));
  co_return std::move(added->prepared.turn);
}

Task<> Threads::add_turns(std::vector<AddTurn> wanted) {
  const auto prepared = std::make_shared<std::vector<PreparedTurn>>();
  for (auto& turn : wanted) prepared->push_back(prepare(std::move(turn)));
  const auto threads = co_await database_.write([prepared](Connection& connection) {
    std::vector<Thread> changed;
    for (const auto& turn : *prepared) changed.push_back(turn_store::insert(connection, turn));
    return changed;
  });
  AGW_ASSERT(threads.size() == prepared->size());
  for (std::size_t i = 0; i < threads.size(); ++i) announce((*prepared)[i].turn, threads[i]);
}

Task<> Threads::remove_turn(std::string id) {
  if (runs_.turn_in_use(id)) throw turn_in_use();
  const auto moment = next_moment();
  const auto thread = co_await database_.write([id, moment](Connection& connection) {
    const auto stored = turn_store::require(connection, id);
    search_store::remove(connection, stored);
    return turn_store::remove(connection, stored, moment);
  });
  indexer_->wake();
  publish(thread);
}

Task<Turn> Threads::require_turn(std::string id) {
  co_return co_await database_.read([id](Connection& connection) { return turn_store::require(connection, id).turn; });
}

Task<std::vector<Turn>> Threads::turns(std::string thread_id, TurnFilter filter) {
  co_return co_await database_.read([thread_id, filter](Connection& connection) {
    std::vector<Turn> turns;
    turn_store::list(connection, thread_id, filter, [&](const Turn& turn) { turns.push_back(turn); });
    return turns;
  });
}

Task<std::string> Threads::turns_text(std::string thread_id, TurnFilter filter) {
  co_return co_await database_.read([thread_id, filter](Connection& connection) {
    ArrayText<Turn> array;
    turn_store::list(connection, thread_id, filter, std::ref(array));
    return array.close();
  });
}

Task<std::vector<ActivityRow>> Threads::activity(std::string agent_id, std::string agent_name, Limit limit) {
  co_return co_await database_.read([agent_id, agent_name, limit](Connection& connection) {
    return activity_store::list(connection, thread_store::agent_ids(connection, agent_id, agent_name), limit.value);
  });
}

Task<ThreadContext> Threads::context(std::string thread_id, std::string question_id, std::size_t max_bytes,
                                     std::optional<SummarisedTurns> summarised) {
  co_return co_await database_.read([thread_id, question_id, max_bytes, summarised](Connection& connection) {
    return context(connection, thread_id, question_id, max_bytes, summarised);
  });
}

ThreadContext Threads::context(Connection& connection, const std::string& thread_id, const std::string& question_id,
                               std::size_t max_bytes, const std::optional<SummarisedTurns>& summarised) {
  const auto question = turn_store::require(connection, question_id);
  if (question.turn.thread_id != thread_id) throw turn_not_found();
  return fitting(connection, question, {.whole = max_bytes}, summarised);
}

ThreadContext Threads::context_to_summarise(Connection& connection, const std::string& question_id,
                                            std::size_t max_bytes, std::size_t max_beginnings,
                                            const std::optional<SummarisedTurns>& summarised) {
  return fitting(connection, turn_store::require(connection, question_id), {max_bytes, max_beginnings}, summarised);
}

SummarisedTurns Threads::summarise_up_to(Connection& connection, const std::string& last_turn_id) {
  return {last_turn_id, turn_store::count_up_to(connection, turn_store::require(connection, last_turn_id))};
}

bool Threads::are_turns_unchanged(Connection& connection, const SummarisedTurns& summarised) {
  return find_last(connection, summarised).has_value();
}

void Threads::announce_compaction(const Thread& thread) {
  const json::object event{{"type", "thread-updated"},
                           {"threadId", thread.id},
                           {"thread", parse_json(to_json(thread)).value()},
                           {"compacted", true}};
  hub_.publish({.type = "thread-updated", .thread_id = thread.id, .text = to_json(event)});
}

Task<Turn> Threads::question_of(std::string turn_id) {
  co_return co_await database_.read(
      [turn_id](Connection& connection) { return find_question(connection, turn_id).turn; });
}

Task<std::optional<Turn>> Threads::answer_of(std::string turn_id) {
  co_return co_await database_.read([turn_id](Connection& connection) -> std::optional<Turn> {
    auto stored = turn_store::require(connection, turn_id);
    if (stored.turn.role == Role::assistant) return std::move(stored.turn);
    const auto question =
        stored.answers ? turn_store::find(connection, *stored.answers) : find_question(connection, turn_id);
    if (!question) return std::nullopt;
    auto answer = turn_store::newest_answer(connection, *question);
    if (!answer) return std::nullopt;
    return std::move(answer->turn);
  });
}

Turn Threads::steer(Connection& connection, const std::string& turn_id, const SteeredPlace& place) {
  turn_store::steer(connection, turn_store::require(connection, turn_id), place);
  return turn_store::require(connection, turn_id).turn;
}

std::set<std::string, std::less<>> Threads::tool_calls_answered(Connection& connection, const std::string& thread_id,
                                                                const std::string& run_id) {
  return turn_store::tool_calls(connection, thread_id, run_id);
}

Task<Turn> Threads::supersede_after(std::string question_id, InTransaction<Turn> in_transaction) {
  co_return co_await database_.write([question_id, in_transaction](Connection& connection) {
    turn_store::make_question(connection, turn_store::require(connection, question_id));
    turn_store::supersede_after(connection, turn_store::require(connection, question_id));
    auto question = turn_store::require(connection, question_id).turn;
    if (in_transaction) in_transaction(connection, question);
    return question;
  });
}

Task<std::vector<FoundTurn>> Threads::search(TurnSearch wanted) {
  wanted = resolved(std::move(wanted));
  co_return co_await database_.read([wanted, unindexed = indexer_->unindexed()](Connection& connection) {
    return search_turns(connection, wanted, *unindexed);
  });
}

Task<std::string> Threads::search_text(TurnSearch wanted) {
  wanted = resolved(std::move(wanted));
  co_return co_await database_.read([wanted, unindexed = indexer_->unindexed()](Connection& connection) {
    std::string text;
    write_json(text, search_turns(connection, wanted, *unindexed));
    return text;
  });
}

}  // namespace agw
