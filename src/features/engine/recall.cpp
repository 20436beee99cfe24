// What of a conversation a model is shown: all of it, or a summary of its older turns and the newer ones as they stand.

#include "base/log.hpp"
#include "features/engine/answering.hpp"
#include "features/engine/compaction.hpp"
#include "features/engine/store.hpp"

namespace agw {

namespace {

/// So much more than what fits is looked at for a summary; what is older still was never shown in a window anyway.
constexpr std::size_t windows_summarised = 4;

}  // namespace

Task<Engine::Recalled> Engine::recall(Answering& answering, const Thread& thread) {
  const auto& question_id = answering.active->run.turn_id;
  auto stored =
      co_await database_.read([id = thread.id](Connection& connection) { return summary_store::find(connection, id); });
  const auto summarised = stored ? std::optional(stored->turns) : std::nullopt;
  const auto room = answering.room - std::min(answering.room / 2, stored ? stored->text.size() : 0);
  auto context = co_await threads_.context(thread.id, question_id, room, summarised);
  if (!context.summary_holds) stored.reset();
  if (context.is_whole) co_return Recalled{stored ? stored->text : "", std::move(context.turns)};

  context = co_await threads_.context(thread.id, question_id, windows_summarised * answering.room,
                                      stored ? summarised : std::nullopt);
  auto older = take_older(context.turns, answering.room / 2);
  if (older.empty()) co_return Recalled{stored ? stored->text : "", std::move(context.turns)};
  const auto last = older.back().id;
  ThreadSummary summary;
  summary.text = co_await summarise(answering, stored ? stored->text : "", std::move(older));
  co_await database_.write([id = thread.id, last, summary, now = clock_.now()](Connection& connection) mutable {
    summary.turns = Threads::summarise_up_to(connection, last);
    summary_store::put(connection, id, summary, now);
  });
  threads_.announce_compaction(thread);
  co_return Recalled{std::move(summary.text), std::move(context.turns)};
}

/// By the model that will answer; by rule where there is none, or it fails.
Task<std::string> Engine::summarise(Answering& answering, std::string earlier, std::vector<Turn> older) {
  const auto plain = plain_summary(earlier, older);
  if (answering.choices.front().provider_name == offline_provider) co_return plain;
  auto request = summary_request(earlier, older, answering.room);
  request.agent_id = answering.caller->agent->id;
  request.thread_id = answering.active->run.thread_id;
  std::string text;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.kind == Delta::Kind::text) text += delta.text;
  };
  const auto answered =
      co_await answer_with_retries(answering.choices, std::move(request), on_delta, answering.active->stop);
  const auto& run = answering.active->run;
  charge(answering.outcome, *answering.caller->agent, run, answered);
  if (std::holds_alternative<ModelReply>(answered.outcome) && !text.empty()) co_return text;
  if (const auto* failure = std::get_if<ModelFailure>(&answered.outcome)) {
    log::warn("run {}: older turns are summed up by rule: {}", run.id, failure->message);
  }
  co_return plain;
}

}  // namespace agw
