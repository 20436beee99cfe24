// The story of an answer: choose the model, gather what it is to read, stream what it says, store it, say that it
// ended.

#include <algorithm>

#include "base/log.hpp"
#include "features/engine/context.hpp"
#include "features/engine/service.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto pause_before_saving_again = 1s;

std::vector<std::string> texts(const json::object& definition, std::string_view name) {
  std::vector<std::string> list;
  if (const auto* member = definition.if_contains(name); member && member->is_array()) {
    for (const auto& entry : member->get_array()) {
      if (entry.is_string()) list.emplace_back(entry.get_string());
    }
  }
  return list;
}

/// What the model reads instead of the question, where a command made something of it.
std::optional<std::string> expanded_text(const Run& run) {
  const auto text = string_member(run.order, "text");
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// What the run was ordered with (by a command or a job), else the thread's.
ThreadMode run_mode(const Run& run, const Thread& thread) {
  const auto ordered = string_member(run.order, "mode");
  return ordered ? from_text<ThreadMode>(*ordered).value_or(thread.mode) : thread.mode;
}

}  // namespace

Task<> Engine::answer(ActiveRunPointer active) {
  const auto began = std::chrono::steady_clock::now();
  RunOutcome outcome;
  try {
    outcome = co_await produce(active);
  } catch (const std::exception& error) {
    log::error({.run = active->run.id}, "{}", error.what());
    outcome.finish_reason = "error";
    outcome.error = "internal server error";
    outcome.partial = !active->log.content().empty();
  }
  take_failure(active->run, outcome);
  outcome.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  if (!outcome.error.empty()) runs_.emit(*active, "error", {{"error", outcome.error}});
  co_await save(active, std::move(outcome));
}

Task<RunOutcome> Engine::produce(ActiveRunPointer active) {
  RunOutcome outcome;
  if (active->stop.requested()) {
    outcome.stopped = true;
    co_return outcome;
  }
  const auto job_turn = job_turn_of(active->run);
  if (job_turn && job_turn->answerer) co_return co_await answer_without_model(active, job_turn);
  const auto agent = extensions_.find(active->run.agent_id);
  std::string problem;
  std::vector<ModelChoice> choices;
  if (agent)
    choices = choose_models(active->run, *agent, problem);
  else
    problem = "the agent was deleted before it could answer";
  if (!problem.empty()) {
    outcome.finish_reason = "error";
    outcome.error = problem;
    co_return outcome;
  }
  co_return co_await ask(*active, agent, std::move(choices));
}

/// The model of the message, else the agent's, else the default; then the agent's fallbacks.
std::vector<ModelChoice> Engine::choose_models(const Run& run, const Extension& agent, std::string& problem) const {
  const auto& definition = agent.definition.members();
  const auto wanted = string_member(run.order, "model").value_or(string_member(definition, "model").value_or(""));
  const auto resolved = models_.resolve(wanted);
  std::vector<ModelChoice> choices;
  if (const auto* choice = std::get_if<ModelChoice>(&resolved))
    choices.push_back(*choice);
  else
    problem = std::get<NotConfigured>(resolved).message;
  for (auto& fallback : models_.resolve_fallbacks(texts(definition, "fallback_models"))) choices.push_back(fallback);
  return choices;
}

/// What the model is to read: who the agent is, and as much of the conversation as fits.
Task<ModelRequest> Engine::gather(const Run& run, ExtensionPointer agent, ModelInfo model) {
  const auto thread = co_await threads_.require(run.thread_id);
  auto system = co_await prompts_.text(agent, thread.project_id, run_mode(run, thread));
  const auto limit = output_limit(*agent, model);
  const auto budget = context_budget(model, limit, estimated_tokens(system));
  auto turns = co_await threads_.context(run.thread_id, run.turn_id, budget);
  const auto files = co_await load_attached(attachments_, turns, model.vision, budget / 2);
  if (!files.empty()) make_room(turns, files, budget);
  auto request = model_request(*agent, turns, expanded_text(run), files);
  request.system = std::move(system);
  request.max_output_tokens = limit;
  co_return request;
}

Task<RunOutcome> Engine::ask(ActiveRun& active, ExtensionPointer agent, std::vector<ModelChoice> choices) {
  RunOutcome outcome;
  outcome.model = choices.front().id();
  if (!costs_.may_spend(*agent)) {
    outcome.finish_reason = "budget";
    co_return outcome;
  }
  auto request = co_await gather(active.run, agent, models_.info(choices.front()));
  // A fallback that does not see would refuse pictures.
  const bool has_images =
      std::ranges::any_of(request.messages, [](const auto& message) { return !message.images.empty(); });
  if (has_images) std::erase_if(choices, [this](const auto& choice) { return !models_.info(choice).vision; });

  bool anything_came = false;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.text.empty()) return;
    anything_came = true;
    if (delta.kind == Delta::Kind::text)
      runs_.text(active, delta.text);
    else
      runs_.reasoning(active, delta.text);
  };
  const auto answered = co_await answer_with_retries(std::move(choices), std::move(request), on_delta, active.stop);
  outcome.model = answered.id();
  take_over(outcome, answered.outcome, anything_came);
  pay(outcome, *agent, active.run, answered);
  co_return outcome;
}

/// Prices a model call. One that was refused before it used a token has cost nothing.
void Engine::pay(RunOutcome& outcome, const Extension& agent, const Run& run, const Answered& answered) {
  const auto* reply = std::get_if<ModelReply>(&answered.outcome);
  const auto usage = reply ? reply->usage : std::get<ModelFailure>(answered.outcome).usage;
  if (!reply && usage == Usage{}) return;
  const auto usd = models_.cost(answered.provider, answered.model, usage);
  outcome.cost_usd += usd.value_or(0);
  outcome.spendings.push_back(costs_.spend(agent, run.thread_id, answered.id(), usd));
}

/// Stores the answer, whatever it takes: while the disk is full it is tried again, because it was promised.
Task<> Engine::save(ActiveRunPointer active, RunOutcome outcome) {
  for (;;) {
    std::string why;
    try {
      if (co_await end(active, outcome)) tell_ended(active->run);
      co_return;
    } catch (const std::exception& error) {
      why = error.what();
    }
    log::error({.run = active->run.id}, "cannot store the answer: {}", why);
    if (co_await pause(stopping_, pause_before_saving_again) != End::done) break;
  }
  // The next start finds the run unfinished and keeps what its checkpoints hold.
  runs_.withdraw(active);
}

Task<bool> Engine::end(ActiveRunPointer active, const RunOutcome& outcome) {
  const auto& run = active->run;
  const auto& content = active->log.content();
  Runs::Ending ending;
  const bool nothing_to_store = outcome.stopped && content.empty();
  if (outcome.stopped) {
    ending.status = RunStatus::stopped;
    ending.type = "stopped";
    ending.members["assistantTurnId"] = nothing_to_store ? json::value(nullptr) : json::value(run.assistant_turn_id);
  } else {
    ending.type = "finish";
    ending.members = finish_members(run, outcome);
  }
  auto at_end = ending_of(run, outcome);
  if (nothing_to_store) co_return co_await runs_.end(active, std::move(ending), std::move(at_end));

  const auto prepared = threads_.prepare({.thread_id = run.thread_id,
                                          .role = Role::assistant,
                                          .content = content,
                                          .metadata = turn_metadata(run, outcome),
                                          .id = run.assistant_turn_id,
                                          .in_reply_to = run.turn_id});
  auto added = std::make_shared<AddedTurn>();
  co_return co_await runs_.end(
      active, std::move(ending),
      [added, prepared, at_end](Connection& connection) {
        *added = Threads::insert_in(connection, prepared);
        at_end(connection);
      },
      [this, added] { threads_.announce(*added); });
}

}  // namespace agw
