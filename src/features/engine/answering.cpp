#include "features/engine/answering.hpp"

#include <algorithm>

#include "base/group.hpp"
#include "base/id.hpp"
#include "base/json_member.hpp"
#include "base/json_reading.hpp"
#include "base/utf8.hpp"
#include "features/engine/agent_limits.hpp"
#include "features/engine/charge.hpp"
#include "features/engine/compaction.hpp"
#include "features/engine/context.hpp"
#include "features/engine/history.hpp"
#include "features/engine/shown_pictures.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

constexpr std::int64_t usual_max_steps = 50;
constexpr std::int64_t most_max_steps = std::int64_t{1} << 40;
constexpr std::string_view between_steps = "\n\n";
/// That tools of one run show to the model.
constexpr std::size_t most_pictures = 20;

/// What the run was ordered with (by a command or a job), else the thread's.
ThreadMode run_mode(const Run& run, const Thread& thread) {
  const auto ordered = string_member(run.order, "mode");
  return ordered ? from_text<ThreadMode>(*ordered).value_or(thread.mode) : thread.mode;
}

std::int64_t max_steps(const Extension& agent) {
  return number_input(agent.definition.members(), "max_steps", usual_max_steps, 1, most_max_steps);
}

std::int64_t tokens_of(const std::vector<ToolDescription>& tools) {
  std::int64_t tokens = 0;
  for (const auto& tool : tools) tokens += estimated_tokens(tool);
  return tokens;
}

json::array call_members(const std::vector<ToolUse>& uses) {
  json::array calls;
  for (const auto& use : uses) calls.push_back(json::object{{"id", use.id}, {"name", use.name}, {"input", use.input}});
  return calls;
}

}  // namespace

Answering::Answering(const AnswerServices& services, ModelLimits& limits, ActiveRunPointer active,
                     ExtensionPointer agent, std::vector<ModelChoice> choices, RunOutcome& outcome)
    : services_(services),
      limits_(limits),
      active_(std::move(active)),
      caller_(std::make_shared<RunningAgent>()),
      choices_(std::move(choices)),
      outcome_(outcome) {
  caller_->agent = std::move(agent);
}

Task<> Answering::run() {
  outcome_.model = choices_.front().id();
  active_->progress = progress_members(outcome_);
  if (!may_go_on(0)) co_return;
  co_await gather();
  for (std::int64_t calls = 0; may_go_on(calls); ++calls) {
    auto uses = co_await ask();
    if (uses.empty()) co_return;
    if (const auto why = repeats_.problem(uses)) {
      outcome_.finish_reason = "error";
      outcome_.error = *why;
      co_return;
    }
    co_await call_tools(std::move(uses));
    shorten_results(request_.messages, room_);
  }
}

/// Whether the model may be called after so many calls; where not, the outcome says why.
bool Answering::may_go_on(std::int64_t calls) {
  if (active_->stop.requested()) {
    outcome_.stopped = outcome_.partial = true;
    return false;
  }
  const bool is_last = calls == max_steps(agent());
  if (!is_last && services_.costs.may_spend(agent())) return true;
  outcome_.finish_reason = is_last ? "max-steps" : "budget";
  return false;
}

/// Who calls, and what the model is to read: who the agent is, its tools, and as much of the conversation as fits.
Task<> Answering::gather() {
  const auto& run = active_->run;
  const auto thread = co_await services_.threads.require(run.thread_id);
  const auto roots = services_.prompts.roots(agent(), thread.project_id);
  caller_->mode = run_mode(run, thread);
  caller_->handed_down = handed_down_in(run.order);
  caller_->dry = is_true(run.order, "dry");
  caller_->limits = limits_of(agent(), services_.extensions, roots);
  caller_->run = {.run_id = run.id,
                  .thread_id = thread.id,
                  .turn_id = run.turn_id,
                  .agent_id = agent().id,
                  .agent_name = agent().name,
                  .project_id = thread.project_id,
                  .roots = roots,
                  .handed_down = services_.calls.handed_on(*caller_)};
  auto system = co_await services_.prompts.text(caller_->agent, thread.project_id, caller_->mode);
  co_await services_.calls.settle(*caller_, active_->stop);
  auto tools = services_.calls.offered(*caller_);
  const auto model = limits_.of(choices_.front());
  sees_ = model.vision;
  prompt_tokens_ = estimated_tokens(system) + tokens_of(tools);
  room_ = room_of(choices_.front());
  request_ = co_await conversation(thread);
  request_.system = std::move(system);
  request_.tools = std::move(tools);
  request_.max_output_tokens = output_limit(agent(), model);
  keep_those_that_see();
}

/// A fallback that does not see would refuse pictures.
void Answering::keep_those_that_see() {
  if (std::ranges::none_of(request_.messages, [](const auto& message) { return !message.images.empty(); })) return;
  std::erase_if(choices_, [this](const auto& choice) { return !services_.models.info(choice).vision; });
}

/// One call of the model. Gives the tools that it asks for; none where the answer is over.
Task<std::vector<ToolUse>> Answering::ask() {
  auto& active = *active_;
  std::string text;
  bool anything_came = false;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.text.empty()) return;
    anything_came = true;
    if (delta.kind == Delta::Kind::reasoning) return services_.runs.reasoning(active, delta.text);
    if (!std::exchange(separated_, true)) services_.runs.text(active, between_steps);
    text += delta.text;
    services_.runs.text(active, delta.text);
  };
  auto answered = co_await ask_in_turn(on_delta);
  outcome_.model = answered.id();
  take_over(outcome_, answered.outcome, anything_came);
  charge(answered);
  active.progress = progress_members(outcome_);
  auto* reply = std::get_if<ModelReply>(&answered.outcome);
  // A call in an answer that was cut off may be half of one.
  if (!reply || reply->stop == ModelStop::length || reply->stop == ModelStop::content_filter)
    co_return std::vector<ToolUse>();
  make_usable(reply->tool_uses);
  Message message;
  message.role = Message::Role::assistant;
  message.text = std::move(text);
  message.tool_uses = reply->tool_uses;
  message.provider_blocks = std::move(reply->provider_blocks);
  message.provider_blocks_of = answered.id();
  request_.messages.push_back(std::move(message));
  separated_ = active.log.content().empty();
  // What answered goes on: its own thoughts are of use to no other, and those before it have failed.
  go_on_with(answered.id());
  co_return std::move(reply->tool_uses);
}

/// Names and ids that can be sent back, the ids unlike all before: those of earlier answers give way.
void Answering::make_usable(std::vector<ToolUse>& uses) {
  for (auto& use : uses) {
    use.name = usable_name(std::move(use.name));
    use.id = usable_name(std::move(use.id));
    if (!call_ids_.insert(use.id).second) call_ids_.insert(use.id = "call_" + random_hex(12));
    if (nests_deeper(use.input, deepest_input)) use.raw_input = to_json(std::exchange(use.input, {}));
  }
  tell_calls_apart(std::span(request_.messages).first(recalled_), call_ids_);
}

/// Leaves the choices before that one out, which have failed.
void Answering::go_on_with(const std::string& id) {
  choices_.erase(choices_.begin(), std::ranges::find(choices_, id, &ModelChoice::id));
}

void Answering::charge(const Answered& answered) {
  agw::charge(outcome_, services_, agent(), active_->run.thread_id, answered);
}

Task<> Answering::call_tools(std::vector<ToolUse> uses) {
  StepMark mark{count_characters(active_->log.content()), {}};
  // What only reads need not wait until the disk has the step: no result of it will be there before.
  Group keeping(services_.loop);
  const bool only_reads = services_.calls.only_read(uses);
  keeping.spawn(services_.runs.keep_step(active_, {mark.text_end, call_members(uses)},
                                         [spendings = std::exchange(outcome_.spendings, {})](Connection& connection) {
                                           Costs::record(connection, spendings);
                                         }));
  if (!only_reads) co_await keeping.join();
  std::vector<Message> results;
  std::exception_ptr failure;
  try {
    results = co_await services_.calls.run(active_, caller_, std::move(uses));
  } catch (...) {
    failure = std::current_exception();
  }
  co_await keeping.join();
  if (failure) std::rethrow_exception(failure);
  for (const auto& result : results) {
    mark.tool_call_ids.push_back(result.tool_call_id);
    if (services_.calls.acts(result.tool_name)) outcome_.last_act = Act{result.tool_name, result.text};
  }
  outcome_.steps.push_back(std::move(mark));
  add_results(std::move(results));
}

/// The results of a step, and the pictures that came with them where the model sees.
void Answering::add_results(std::vector<Message> results) {
  const bool sees = services_.models.info(choices_.front()).vision;
  auto pictures = take_pictures(results, sees ? most_pictures - pictures_ : 0);
  std::ranges::move(results, std::back_inserter(request_.messages));
  if (!pictures) return;
  pictures_ += pictures->images.size();
  request_.messages.push_back(*std::move(pictures));
  keep_those_that_see();
}

}  // namespace agw
