#include "features/engine/recall.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "features/engine/compaction.hpp"
#include "features/engine/store.hpp"

namespace agw {

namespace {

/// So much more than what fits is looked at for a summary; what is older still is only counted.
constexpr std::size_t windows_summarised = 4;

/// A conversation that does not fit, in two: what is to be summed up, and what stays as it stands.
struct Parted {
  std::vector<Turn> older;
  SummarisedTurns summarised;  ///< them, as they were when they were read
  std::vector<Turn> turns;
  std::int64_t left_out = 0;  ///< of the turns before `turns`: those that no summary says anything of
  bool summary_holds = false;
};

Parted part(Connection& connection, const std::string& question_id, std::size_t room,
            const std::optional<SummarisedTurns>& summarised) {
  auto context = Threads::context_to_summarise(connection, question_id, room, windows_summarised * room, summarised);
  Parted parted;
  parted.older = take_older(context.turns, room / 2, context.cut_short);
  parted.turns = std::move(context.turns);
  parted.summary_holds = context.summary_holds;
  if (parted.older.empty()) return parted;
  parted.summarised = Threads::summarise_up_to(connection, parted.older.back().id);
  const auto known = context.summary_holds ? summarised->count : 0;
  parted.left_out = parted.summarised.count - known - static_cast<std::int64_t>(parted.older.size());
  return parted;
}

/// Nobody should take the summary for one of the whole conversation where it is not.
std::string with_those_left_out(std::string summary, std::int64_t left_out) {
  if (left_out <= 0) return summary;
  return fmt::format("({} turns of the conversation are too far back for this summary.)\n\n{}", left_out, summary);
}

/// Not where other turns stand now than those that it was made of: it would keep what was deleted.
bool keep_summary(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now) {
  if (!Threads::still_stand(connection, summary.turns)) return false;
  summary_store::put(connection, thread_id, summary, now);
  return true;
}

}  // namespace

void keep_summary_in_fork(Connection& connection, const Fork& fork, Timestamp now) {
  auto summary = summary_store::find(connection, fork.original_id);
  if (!summary || !Threads::still_stand(connection, summary->turns)) return;
  const auto last = fork.copy_of(summary->turns.last_turn_id);
  if (!last) return;
  summary->turns.last_turn_id = *last;
  keep_summary(connection, fork.copy_id, *summary, now);
}

Task<Recalled> recall(Database& database, const Clock& clock, Threads& threads, Thread thread,
                      Recollection recollection) {
  const auto [question_id, most, summarise, keeps_summary] = std::move(recollection);
  auto stored =
      co_await database.read([id = thread.id](Connection& connection) { return summary_store::find(connection, id); });
  const auto summarised = stored ? std::optional(stored->turns) : std::nullopt;
  const auto room = most - std::min(most / 2, stored ? stored->text.size() : 0);
  auto context = co_await threads.context(thread.id, question_id, room, summarised);
  if (!context.summary_holds) stored.reset();
  if (context.is_whole) co_return Recalled{stored ? stored->text : "", std::move(context.turns)};

  auto parted =
      co_await database.read([question_id, most, known = stored ? summarised : std::nullopt](Connection& connection) {
        return part(connection, question_id, most, known);
      });
  if (!parted.summary_holds) stored.reset();
  const auto earlier = stored ? stored->text : "";
  if (parted.older.empty()) co_return Recalled{earlier, std::move(parted.turns)};
  auto text = co_await summarise(earlier, std::move(parted.older));
  if (!text) co_return Recalled{earlier, std::move(parted.turns)};
  const ThreadSummary summary{parted.summarised, with_those_left_out(*std::move(text), parted.left_out)};
  const bool is_to_be_told =
      !keeps_summary || co_await database.write([id = thread.id, summary, now = clock.now()](Connection& connection) {
        return keep_summary(connection, id, summary, now);
      });
  if (is_to_be_told) threads.announce_compaction(thread);
  co_return Recalled{summary.text, std::move(parted.turns)};
}

}  // namespace agw
