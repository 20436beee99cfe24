#include "features/context/thread_retention.hpp"

#include <utility>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/context/compaction.hpp"
#include "features/context/summary_store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

/// Bytes of turns that one summary is made of, at most.
constexpr std::size_t max_summed_up = 64 * 1024;
/// A tenth of the limit is removed at once, so that a summary is not needed after every run.
constexpr std::size_t removed_share = 10;
static_assert(removed_share > 1, "some turns must stay");

/// The turns to summarise and remove.
struct Shortening {
  OldTurns old;
  SummarisedTurns all;      ///< the old turns, as of when they were read
  std::string earlier;      ///< the existing summary
  std::vector<Turn> turns;  ///< the turns after those that it covers
};

std::optional<Shortening> shortening_of(Connection& connection, const std::string& thread_id, std::size_t kept) {
  auto old = Threads::old_turns(connection, thread_id, kept);
  if (!old) return std::nullopt;
  const auto stored = summary_store::find(connection, thread_id);
  const auto known = stored ? std::optional(stored->turns) : std::nullopt;
  auto context = Threads::context_to_summarise(connection, old->next_question_id, 0, max_summed_up, known);
  if (!context.turns.empty()) context.turns.pop_back();  // The last one, the question, is kept.
  const auto all = Threads::summarise_up_to(connection, old->last_turn_id);
  return Shortening{*std::move(old), all, context.summary_holds ? stored->text : "", std::move(context.turns)};
}

/// Whether the thread's summary has this text, and no turn that it covers has changed since.
bool holds_summary(Connection& connection, const std::string& thread_id, const std::string& text) {
  const auto stored = summary_store::find(connection, thread_id);
  return stored && stored->text == text && Threads::are_turns_unchanged(connection, stored->turns);
}

}  // namespace

ThreadRetention::ThreadRetention(Loop& loop, Database& database, Hub& hub, const Clock& clock, const Runs& runs,
                                 Threads& threads, BackgroundCompletions& completions, std::size_t max_turns,
                                 IsJobsOwn is_jobs_own)
    : database_(database),
      clock_(clock),
      runs_(runs),
      threads_(threads),
      completions_(completions),
      max_turns_(max_turns),
      is_jobs_own_(std::move(is_jobs_own)),
      group_(loop),
      listening_(hub, *this) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::error("the older turns of a job's thread could not be removed: {}", message_of(failure));
  });
}

Task<> ThreadRetention::stop() {
  stop_.request();
  co_await group_.join();
}

void ThreadRetention::deliver(const DomainEvent& event) {
  const auto* thread = event.record.as<Thread>();
  if (!thread || !thread->job_id || stop_.requested()) return;
  if (static_cast<std::size_t>(thread->turn_count) <= max_turns_) return;
  const auto [shortened, is_new] = shortened_.try_emplace(thread->id, false);
  if (is_new)
    group_.spawn(wait_and_shorten(thread->id));
  else
    shortened->second = true;
}

/// Waits until no run is active on the thread, because runs read and write its conversation.
Task<> ThreadRetention::wait_and_shorten(std::string thread_id) {
  const auto until_ended = [](ActiveRunPointer active) -> Task<> { co_await active->ended.wait(); };
  AGW_ASSERT(shortened_.contains(thread_id));
  std::exception_ptr failure;
  try {
    do {
      for (auto active = runs_.front(thread_id); active && !stop_.requested(); active = runs_.front(thread_id))
        co_await with_timeout(stop_, no_limit, until_ended(active));
      shortened_[thread_id] = false;
      if (!stop_.requested()) co_await shorten(thread_id);
    } while (shortened_[thread_id] && !stop_.requested());
  } catch (const NotFound& gone) {
    log::info("thread {} is not shortened: {}", thread_id, gone.what());  // it or its turns were deleted
  } catch (...) {
    failure = std::current_exception();
  }
  shortened_.erase(thread_id);
  if (failure) std::rethrow_exception(failure);
}

Task<> ThreadRetention::shorten(std::string thread_id) {
  const auto kept = max_turns_ - max_turns_ / removed_share;
  auto shortening =
      co_await database_.read([this, thread_id, kept](Connection& connection) -> std::optional<Shortening> {
        if (!is_jobs_own_(connection, thread_id)) return std::nullopt;
        return shortening_of(connection, thread_id, kept);
      });
  if (!shortening) co_return;
  const auto last_turn_id = shortening->old.last_turn_id;
  AGW_ASSERT(!last_turn_id.empty());
  const auto text = co_await sum_up(std::move(shortening->earlier), std::move(shortening->turns));
  if (stop_.requested()) co_return;
  const bool is_current = co_await database_.write(
      [thread_id, summary = ThreadSummary{shortening->all, text}, now = clock_.now()](Connection& connection) {
        return summary_store::put_if_current(connection, thread_id, summary, now);
      });
  if (!is_current) co_return;
  // Deleting a turn also deletes a summary that covers it. This one replaces the turns that are deleted here, so it is
  // stored again; but if a person deletes one of them meanwhile, it stays deleted.
  co_await threads_.remove_before(
      thread_id, last_turn_id,
      [thread_id, text](Connection& connection) { return holds_summary(connection, thread_id, text); },
      [thread_id, last_turn_id, text, now = clock_.now()](Connection& connection) {
        const auto turns = Threads::summarise_up_to(connection, last_turn_id);
        summary_store::put(connection, thread_id, {turns, text}, now);
      });
}

/// Has the default model write the summary; if there is none or it fails, uses a fixed rule.
Task<std::string> ThreadRetention::sum_up(std::string earlier, std::vector<Turn> turns) {
  if (turns.empty()) co_return earlier;
  auto plain = plain_summary(earlier, turns);
  const auto request = summary_request(earlier, turns, max_summed_up);
  auto written = co_await completions_.write(request.system, request.messages.front().text, stop_);
  co_return written ? *std::move(written) : plain;
}

}  // namespace agw
