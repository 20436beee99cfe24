// What of a conversation a model is shown: all of it, or a summary of its older turns and the newer ones as they stand.

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "base/log.hpp"
#include "features/engine/answering.hpp"
#include "features/engine/compaction.hpp"
#include "features/engine/context.hpp"
#include "features/engine/history.hpp"
#include "features/engine/store.hpp"

namespace agw {

namespace {

/// So much more than what fits is looked at for a summary; what is older still is only counted.
constexpr std::size_t windows_summarised = 4;

/// A window that is known too large is found in so many halves: from 128,000 tokens down to 4,000, answers included.
constexpr int most_cuts = 8;
/// In tokens: shorter ones are of no use.
constexpr std::int64_t least_answer = 500;

/// What a conversation that takes so much leaves of `room` for the text of its files.
std::size_t left_for_files(std::size_t room, std::size_t taken) {
  return std::min(room - std::min(room, taken), room / 2);
}

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

/// What the model reads instead of the question, where a command made something of it.
std::optional<std::string> expanded_text(const Run& run) {
  const auto text = string_member(run.order, "text");
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// A model that is shown what fits it, which is cut when it is first asked.
class FittingModel : public Provider {
public:
  FittingModel(Provider& provider, std::function<Task<std::vector<Message>>()> cut)
      : provider_(provider), cut_(std::move(cut)) {}

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, Stop& stop) override {
    if (!messages_) messages_ = co_await cut_();
    auto fitting = request;
    fitting.messages = *messages_;
    co_return co_await provider_.answer(fitting, on_delta, stop);
  }

private:
  Provider& provider_;
  std::function<Task<std::vector<Message>>()> cut_;
  std::optional<std::vector<Message>> messages_;
};

}  // namespace

/// A fork goes on from the summary of what it has copied.
void Engine::keep_summary_in_fork(Connection& connection, const Fork& fork, Timestamp now) {
  auto summary = summary_store::find(connection, fork.original_id);
  if (!summary || !Threads::still_stand(connection, summary->turns)) return;
  const auto last = fork.copy_of(summary->turns.last_turn_id);
  if (!last) return;
  summary->turns.last_turn_id = *last;
  keep_summary(connection, fork.copy_id, *summary, now);
}

ModelInfo Engine::info_of(const ModelChoice& choice) const {
  const auto found = overrated_.find(choice.id());
  return found == overrated_.end() ? models_.info(choice) : found->second;
}

/// Later answers of a model begin with what this one has found that it takes.
void Engine::note_less(const Answering& answering, const Answered& answered, std::int64_t asked_output) {
  auto& model = overrated_.try_emplace(answered.id(), models_.info(answered.provider, answered.model)).first->second;
  const auto output = answering.request.max_output_tokens;
  const auto window = window_of(answering.room, output, answering.prompt_tokens);
  if (window < model.context_window) {
    model.context_window = window;
    log::warn("{} takes less than is known of it: until the gateway ends, its window counts as {} tokens",
              answered.id(), window);
  }
  if (output < asked_output) model.max_output_tokens = std::min(model.max_output_tokens, output);
}

/// How much a model may be shown of messages.
std::size_t Engine::room_of(const Answering& answering, const ModelChoice& choice) const {
  const auto model = info_of(choice);
  return context_budget(model, output_limit(*answering.caller->agent, model), answering.prompt_tokens);
}

/// The conversation with its files, as much as fits. The question's own files have their place before older turns;
/// those of older turns have what is left, and are only named where nothing is.
Task<ModelRequest> Engine::conversation(Answering& answering, Thread thread) {
  const auto room = answering.room;
  const auto& run = answering.active->run;
  const std::vector<Turn> question{co_await threads_.require_turn(run.turn_id)};
  auto asked_about = co_await load_attached(attachments_, question, false, room / 2);
  const auto own_size = text_size(asked_about);
  const auto [summary, turns] = co_await recall(answering, thread, room - own_size);
  // Most have none, and the size takes as long to find out as all of the rest.
  const bool any_files = std::ranges::any_of(turns, has_attachments);
  const auto left = any_files ? left_for_files(room, summary.size() + total_size(turns)) : 0;
  const auto files =
      co_await load_attached(attachments_, turns, answering.sees, std::max(own_size, left), std::move(asked_about));
  auto request = model_request(*answering.caller->agent, turns, expanded_text(run), files);
  if (!summary.empty()) request.messages.insert(request.messages.begin(), summary_message(summary));
  answering.recalled = request.messages.size();
  tell_calls_apart(request.messages, answering.call_ids);
  co_return request;
}

/// Makes what the model is shown anew, of less; what this answer has added stays.
Task<> Engine::cut_to(Answering& answering, std::size_t room) {
  auto& messages = answering.request.messages;
  const std::vector<Message> since(messages.begin() + static_cast<std::ptrdiff_t>(answering.recalled), messages.end());
  answering.room = room;
  auto cut = co_await conversation(answering, co_await threads_.require(answering.active->run.thread_id));
  messages = std::move(cut.messages);
  messages.insert(messages.end(), since.begin(), since.end());
  shorten_results(messages, room);
}

/// What a model is shown whose window is smaller than that of the models before it, which have failed.
Task<std::vector<Message>> Engine::cut_for(Answering& answering, ModelChoice choice) {
  answering.go_on_with(choice.id());
  answering.keeps_summary = false;
  co_await cut_to(answering, room_of(answering, choice));
  co_return answering.request.messages;
}

/// For a model that takes less than is known of it: what the answer may come to gives way or, where that is more, what
/// the model is shown. False where there is nothing to leave out.
Task<bool> Engine::ask_for_less(Answering& answering, Answered refused) {
  auto& request = answering.request;
  const auto& run = answering.active->run;
  charge(answering.outcome, *answering.caller->agent, run, refused);
  answering.go_on_with(refused.id());
  const auto size = total_size(request.messages);
  bool is_less = false;
  if (request.max_output_tokens * bytes_per_token > static_cast<std::int64_t>(size)) {
    request.max_output_tokens /= 2;
    is_less = request.max_output_tokens >= least_answer;
  } else {
    co_await cut_to(answering, std::min(answering.room, size) / 2);
    is_less = total_size(request.messages) < size;
  }
  if (is_less) log::warn("run {}: {}; asking again with less", run.id, std::get<ModelFailure>(refused.outcome).message);
  co_return is_less;
}

/// Asks the choices in turn, again with less of the conversation where it was too long.
Task<Answered> Engine::ask_in_turn(Answering& answering, const OnDelta& on_delta) {
  const auto asked_output = answering.request.max_output_tokens;
  std::string refused;
  bool began = false;
  const OnDelta noticing = [&](const Delta& delta) {
    began = began || !delta.text.empty();
    on_delta(delta);
  };
  for (int cuts = 0;; ++cuts) {
    auto answered = co_await ask_fitting(answering, noticing);
    const auto* failure = std::get_if<ModelFailure>(&answered.outcome);
    if (!failure && answered.id() == refused) note_less(answering, answered, asked_output);
    if (!failure || !failure->too_long || began || cuts == most_cuts) co_return answered;
    if (!co_await ask_for_less(answering, answered)) co_return answered;
    refused = answered.id();
  }
}

/// Asks the choices in turn, each with what fits its window.
Task<Answered> Engine::ask_fitting(Answering& answering, const OnDelta& on_delta) {
  auto choices = answering.choices;
  std::deque<FittingModel> fitting;
  for (auto& choice : choices) {
    if (room_of(answering, choice) >= answering.room) continue;
    auto cut = [this, &answering, choice] { return cut_for(answering, choice); };
    choice.provider = &fitting.emplace_back(*choice.provider, std::move(cut));
  }
  co_return co_await answer_with_retries(std::move(choices), answering.request, on_delta, answering.active->stop);
}

/// As much of the conversation as comes to `most` bytes, with a summary of what was before.
Task<Engine::Recalled> Engine::recall(Answering& answering, const Thread& thread, std::size_t most) {
  const auto& question_id = answering.active->run.turn_id;
  auto stored =
      co_await database_.read([id = thread.id](Connection& connection) { return summary_store::find(connection, id); });
  const auto summarised = stored ? std::optional(stored->turns) : std::nullopt;
  const auto room = most - std::min(most / 2, stored ? stored->text.size() : 0);
  auto context = co_await threads_.context(thread.id, question_id, room, summarised);
  if (!context.summary_holds) stored.reset();
  if (context.is_whole) co_return Recalled{stored ? stored->text : "", std::move(context.turns)};

  auto parted =
      co_await database_.read([question_id, most, known = stored ? summarised : std::nullopt](Connection& connection) {
        return part(connection, question_id, most, known);
      });
  if (!parted.summary_holds) stored.reset();
  const auto earlier = stored ? stored->text : "";
  if (parted.older.empty()) co_return Recalled{earlier, std::move(parted.turns)};
  auto text = co_await summarise(answering, earlier, std::move(parted.older));
  if (!text) co_return Recalled{earlier, std::move(parted.turns)};
  const ThreadSummary summary{parted.summarised, with_those_left_out(*std::move(text), parted.left_out)};
  const bool is_to_be_told =
      !answering.keeps_summary ||
      co_await database_.write([id = thread.id, summary, now = clock_.now()](Connection& connection) {
        return keep_summary(connection, id, summary, now);
      });
  if (is_to_be_told) threads_.announce_compaction(thread);
  co_return Recalled{summary.text, std::move(parted.turns)};
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
