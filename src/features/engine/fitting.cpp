// What of the conversation a model is shown: what fits its window, and less where it has refused that.

#include <algorithm>
#include <deque>

#include "base/json_member.hpp"
#include "base/log.hpp"
#include "features/engine/answering.hpp"
#include "features/engine/compaction.hpp"
#include "features/engine/context.hpp"
#include "features/engine/history.hpp"
#include "features/engine/recall.hpp"

namespace agw {

namespace {

/// A window that is known too large is found in so many halves: from 128,000 tokens down to 4,000, answers included.
constexpr int most_cuts = 8;
/// In tokens: shorter ones are of no use.
constexpr std::int64_t least_answer = 500;

/// What a conversation that takes so much leaves of `room` for the text of its files.
std::size_t left_for_files(std::size_t room, std::size_t taken) {
  return std::min(room - std::min(room, taken), room / 2);
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

/// How much a model may be shown of messages.
std::size_t Answering::room_of(const ModelChoice& choice) const {
  const auto model = limits_.of(choice);
  return context_budget(model, output_limit(agent(), model), prompt_tokens_);
}

/// The conversation with its files, as much as fits. The question's own files have their place before older turns;
/// those of older turns have what is left, and are only named where nothing is.
Task<ModelRequest> Answering::conversation(Thread thread) {
  const auto& run = active_->run;
  const std::vector<Turn> question{co_await services_.threads.require_turn(run.turn_id)};
  auto asked_about = co_await load_attached(services_.attachments, question, false, room_ / 2);
  const auto own_size = text_size(asked_about);
  const auto by_model = [this](std::string earlier, std::vector<Turn> older) {
    return summarise(std::move(earlier), std::move(older));
  };
  const auto [summary, turns] = co_await recall(services_.database, services_.clock, services_.threads, thread,
                                                {run.turn_id, room_ - own_size, by_model, keeps_summary_});
  // Most have none, and the size takes as long to find out as all of the rest.
  const bool any_files = std::ranges::any_of(turns, has_attachments);
  const auto left = any_files ? left_for_files(room_, summary.size() + total_size(turns)) : 0;
  const auto files =
      co_await load_attached(services_.attachments, turns, sees_, std::max(own_size, left), std::move(asked_about));
  auto request = model_request(agent(), turns, expanded_text(run), files);
  if (!summary.empty()) request.messages.insert(request.messages.begin(), summary_message(summary));
  recalled_ = request.messages.size();
  tell_calls_apart(request.messages, call_ids_);
  co_return request;
}

/// By the model that will answer; by rule where there is none, or it fails. Nothing where it was stopped.
Task<std::optional<std::string>> Answering::summarise(std::string earlier, std::vector<Turn> older) {
  const auto plain = plain_summary(earlier, older);
  if (choices_.front().provider_name == offline_provider) co_return plain;
  auto request = summary_request(earlier, older, room_);
  request.agent_id = agent().id;
  request.thread_id = active_->run.thread_id;
  std::string text;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.kind == Delta::Kind::text) text += delta.text;
  };
  const auto answered = co_await answer_with_retries(choices_, std::move(request), on_delta, active_->stop);
  charge(answered);
  if (std::holds_alternative<ModelReply>(answered.outcome) && !text.empty()) co_return text;
  if (const auto* failure = std::get_if<ModelFailure>(&answered.outcome)) {
    if (failure->kind == ModelFailure::Kind::stopped) co_return std::nullopt;
    log::warn("run {}: older turns are summed up by rule: {}", active_->run.id, failure->message);
  }
  co_return plain;
}

/// Makes what the model is shown anew, of less; what this answer has added stays.
Task<> Answering::cut_to(std::size_t room) {
  auto& messages = request_.messages;
  const std::vector<Message> since(messages.begin() + static_cast<std::ptrdiff_t>(recalled_), messages.end());
  room_ = room;
  auto cut = co_await conversation(co_await services_.threads.require(active_->run.thread_id));
  messages = std::move(cut.messages);
  messages.insert(messages.end(), since.begin(), since.end());
  shorten_results(messages, room);
}

/// What a model is shown whose window is smaller than that of the models before it, which have failed.
Task<std::vector<Message>> Answering::cut_for(ModelChoice choice) {
  go_on_with(choice.id());
  keeps_summary_ = false;
  co_await cut_to(room_of(choice));
  co_return request_.messages;
}

/// Asks the choices in turn, again with less of the conversation where it was too long.
Task<Answered> Answering::ask_in_turn(const OnDelta& on_delta) {
  const auto asked_output = request_.max_output_tokens;
  std::string refused;
  bool began = false;
  const OnDelta noticing = [&](const Delta& delta) {
    began = began || !delta.text.empty();
    on_delta(delta);
  };
  for (int cuts = 0;; ++cuts) {
    auto answered = co_await ask_fitting(noticing);
    const auto* failure = std::get_if<ModelFailure>(&answered.outcome);
    if (!failure && answered.id() == refused) note_less(answered, asked_output);
    if (!failure || !failure->too_long || began || cuts == most_cuts) co_return answered;
    if (!co_await ask_for_less(answered)) co_return answered;
    refused = answered.id();
  }
}

/// Asks the choices in turn, each with what fits its window.
Task<Answered> Answering::ask_fitting(const OnDelta& on_delta) {
  auto choices = choices_;
  std::deque<FittingModel> fitting;
  for (auto& choice : choices) {
    if (room_of(choice) >= room_) continue;
    choice.provider = &fitting.emplace_back(*choice.provider, [this, choice] { return cut_for(choice); });
  }
  co_return co_await answer_with_retries(std::move(choices), request_, on_delta, active_->stop);
}

/// For a model that takes less than is known of it: what the answer may come to gives way or, where that is more, what
/// the model is shown. False where there is nothing to leave out.
Task<bool> Answering::ask_for_less(Answered refused) {
  charge(refused);
  go_on_with(refused.id());
  const auto size = total_size(request_.messages);
  bool is_less = false;
  if (request_.max_output_tokens * bytes_per_token > static_cast<std::int64_t>(size)) {
    request_.max_output_tokens /= 2;
    is_less = request_.max_output_tokens >= least_answer;
  } else {
    co_await cut_to(std::min(room_, size) / 2);
    is_less = total_size(request_.messages) < size;
  }
  const auto& failure = std::get<ModelFailure>(refused.outcome);
  if (is_less) log::warn("run {}: {}; asking again with less", active_->run.id, failure.message);
  co_return is_less;
}

/// Later answers of a model begin with what this one has found that it takes.
void Answering::note_less(const Answered& answered, std::int64_t asked_output) {
  const auto output = request_.max_output_tokens;
  const auto window = window_of(room_, output, prompt_tokens_);
  limits_.lower(answered, window, output < asked_output ? std::optional(output) : std::nullopt);
}

}  // namespace agw
