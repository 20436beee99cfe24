// What of a conversation a model is shown: all of it, or a summary of its older turns and the newer ones as they stand.

#include "base/log.hpp"
#include "features/engine/answering.hpp"
#include "features/engine/compaction.hpp"
#include "features/engine/store.hpp"

namespace agw {

namespace {

/// So much more than what fits is looked at for a summary; what is older still was never shown in a window anyway.
constexpr std::size_t windows_summarised = 4;

/// A conversation that does not fit, in two: what is to be summed up, and what stays as it stands.
struct Parted {
  std::vector<Turn> older;
  SummarisedTurns summarised;  ///< them, as they were when they were read
  std::vector<Turn> turns;
  bool summary_holds = false;
};

Parted part(Connection& connection, const std::string& question_id, std::size_t room,
            const std::optional<SummarisedTurns>& summarised) {
  auto context = Threads::context_to_summarise(connection, question_id, room, windows_summarised * room, summarised);
  Parted parted;
  parted.older = take_older(context.turns, room / 2, context.cut_short);
  if (!parted.older.empty()) parted.summarised = Threads::summarise_up_to(connection, parted.older.back().id);
  parted.turns = std::move(context.turns);
  parted.summary_holds = context.summary_holds;
  return parted;
}

/// Not where turns were deleted while the summary was made: it would keep what they said.
bool keep_summary(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now) {
  if (!Threads::still_stand(connection, summary.turns)) return false;
  summary_store::put(connection, thread_id, summary, now);
  return true;
}

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

  auto parted =
      co_await database_.read([question_id, most = answering.room, known = stored ? summarised : std::nullopt](
                                  Connection& connection) { return part(connection, question_id, most, known); });
  if (!parted.summary_holds) stored.reset();
  const auto earlier = stored ? stored->text : "";
  if (parted.older.empty()) co_return Recalled{earlier, std::move(parted.turns)};
  auto text = co_await summarise(answering, earlier, std::move(parted.older));
  if (!text) co_return Recalled{earlier, std::move(parted.turns)};
  const ThreadSummary summary{parted.summarised, *text};
  const bool is_kept = co_await database_.write([id = thread.id, summary, now = clock_.now()](Connection& connection) {
    return keep_summary(connection, id, summary, now);
  });
  if (is_kept) threads_.announce_compaction(thread);
  co_return Recalled{*std::move(text), std::move(parted.turns)};
}

/// By the model that will answer; by rule where there is none, or it fails. Nothing where it was stopped.
Task<std::optional<std::string>> Engine::summarise(Answering& answering, std::string earlier, std::vector<Turn> older) {
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
    if (failure->kind == ModelFailure::Kind::stopped) co_return std::nullopt;
    log::warn("run {}: older turns are summed up by rule: {}", run.id, failure->message);
  }
  co_return plain;
}

}  // namespace agw
