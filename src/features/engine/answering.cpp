// The story of an answer: gather what the model is to read, stream what it says, make the calls that it asks for, give
// it their results, until it asks for none.

#include "features/engine/answering.hpp"

#include <algorithm>

#include "base/id.hpp"
#include "base/json_member.hpp"
#include "base/json_reading.hpp"
#include "base/utf8.hpp"
#include "features/engine/agent_limits.hpp"
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

void Engine::Answering::make_usable(std::vector<ToolUse>& uses) {
  for (auto& use : uses) {
    use.name = usable_name(std::move(use.name));
    use.id = usable_name(std::move(use.id));
    if (!call_ids.insert(use.id).second) call_ids.insert(use.id = "call_" + random_hex(12));
    if (nests_deeper(use.input, deepest_input)) use.raw_input = to_json(std::exchange(use.input, {}));
  }
  tell_calls_apart(std::span(request.messages).first(recalled), call_ids);
}

void Engine::Answering::go_on_with(const std::string& id) {
  choices.erase(choices.begin(), std::ranges::find(choices, id, &ModelChoice::id));
}

Task<> Engine::converse(ActiveRunPointer active, ExtensionPointer agent, std::vector<ModelChoice> choices,
                        RunOutcome& outcome) {
  outcome.model = choices.front().id();
  active->progress = progress_members(outcome);
  auto caller = std::make_shared<RunningAgent>();
  caller->agent = agent;
  Answering answering{active, caller, std::move(choices), {}, outcome};
  if (!may_go_on(answering, 0)) co_return;
  co_await gather(answering, *caller);
  for (std::int64_t calls = 0; may_go_on(answering, calls); ++calls) {
    auto uses = co_await ask(answering);
    if (uses.empty()) co_return;
    if (const auto why = answering.repeats.problem(uses)) {
      outcome.finish_reason = "error";
      outcome.error = *why;
      co_return;
    }
    co_await call_tools(answering, std::move(uses));
    shorten_results(answering.request.messages, answering.room);
  }
}

/// Whether the model may be called after so many calls; where not, the outcome says why.
bool Engine::may_go_on(Answering& answering, std::int64_t calls) const {
  auto& outcome = answering.outcome;
  const auto& agent = *answering.caller->agent;
  if (answering.active->stop.requested()) {
    outcome.stopped = outcome.partial = true;
    return false;
  }
  const bool is_last = calls == max_steps(agent);
  if (!is_last && costs_.may_spend(agent)) return true;
  outcome.finish_reason = is_last ? "max-steps" : "budget";
  return false;
}

/// Who calls, and what the model is to read: who the agent is, its tools, and as much of the conversation as fits.
Task<> Engine::gather(Answering& answering, RunningAgent& caller) {
  const auto& run = answering.active->run;
  const auto thread = co_await threads_.require(run.thread_id);
  const auto& agent = caller.agent;
  caller.mode = run_mode(run, thread);
  caller.handed_down = handed_down_in(run.order);
  caller.dry = is_true(run.order, "dry");
  const auto roots = prompts_.roots(*agent, thread.project_id);
  caller.limits = limits_of(*agent, extensions_, roots);
  caller.run = {.run_id = run.id,
                .thread_id = thread.id,
                .turn_id = run.turn_id,
                .agent_id = agent->id,
                .agent_name = agent->name,
                .project_id = thread.project_id,
                .roots = roots,
                .handed_down = calls_.handed_on(caller)};
  auto system = co_await prompts_.text(agent, thread.project_id, caller.mode);
  co_await calls_.settle(caller, answering.active->stop);
  auto tools = calls_.offered(caller);
  const auto model = info_of(answering.choices.front());
  answering.sees = model.vision;
  answering.prompt_tokens = estimated_tokens(system) + tokens_of(tools);
  answering.room = room_of(answering, answering.choices.front());
  auto& request = answering.request;
  request = co_await conversation(answering, thread);
  request.system = std::move(system);
  request.tools = std::move(tools);
  request.max_output_tokens = output_limit(*agent, model);
  keep_those_that_see(answering);
}

/// A fallback that does not see would refuse pictures.
void Engine::keep_those_that_see(Answering& answering) const {
  const auto& messages = answering.request.messages;
  if (std::ranges::none_of(messages, [](const auto& message) { return !message.images.empty(); })) return;
  std::erase_if(answering.choices, [this](const auto& choice) { return !models_.info(choice).vision; });
}

/// The results of a step, and the pictures that came with them where the model sees.
void Engine::add_results(Answering& answering, std::vector<Message> results) const {
  const bool sees = models_.info(answering.choices.front()).vision;
  auto pictures = take_pictures(results, sees ? most_pictures - answering.pictures : 0);
  std::ranges::move(results, std::back_inserter(answering.request.messages));
  if (!pictures) return;
  answering.pictures += pictures->images.size();
  answering.request.messages.push_back(*std::move(pictures));
  keep_those_that_see(answering);
}

/// One call of the model. Gives the tools that it asks for; none where the answer is over.
Task<std::vector<ToolUse>> Engine::ask(Answering& answering) {
  auto& active = *answering.active;
  auto& outcome = answering.outcome;
  std::string text;
  bool anything_came = false;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.text.empty()) return;
    anything_came = true;
    if (delta.kind == Delta::Kind::reasoning) return runs_.reasoning(active, delta.text);
    if (!std::exchange(answering.separated, true)) runs_.text(active, between_steps);
    text += delta.text;
    runs_.text(active, delta.text);
  };
  auto answered = co_await ask_in_turn(answering, on_delta);
  outcome.model = answered.id();
  take_over(outcome, answered.outcome, anything_came);
  charge(outcome, *answering.caller->agent, active.run, answered);
  active.progress = progress_members(outcome);
  auto* reply = std::get_if<ModelReply>(&answered.outcome);
  // A call in an answer that was cut off may be half of one.
  if (!reply || reply->stop == ModelStop::length || reply->stop == ModelStop::content_filter)
    co_return std::vector<ToolUse>();
  answering.make_usable(reply->tool_uses);
  Message message;
  message.role = Message::Role::assistant;
  message.text = std::move(text);
  message.tool_uses = reply->tool_uses;
  message.provider_blocks = std::move(reply->provider_blocks);
  message.provider_blocks_of = answered.id();
  answering.request.messages.push_back(std::move(message));
  answering.separated = active.log.content().empty();
  // What answered goes on: its own thoughts are of use to no other, and those before it have failed.
  answering.go_on_with(answered.id());
  co_return std::move(reply->tool_uses);
}

Task<> Engine::call_tools(Answering& answering, std::vector<ToolUse> uses) {
  const auto& active = answering.active;
  auto& outcome = answering.outcome;
  StepMark mark{count_characters(active->log.content()), {}};
  // What only reads need not wait until the disk has the step: no result of it will be there before.
  Group keeping(loop_);
  const bool only_reads = calls_.only_read(uses);
  keeping.spawn(runs_.keep_step(active, {mark.text_end, call_members(uses)},
                                [spendings = std::exchange(outcome.spendings, {})](Connection& connection) {
                                  Costs::record(connection, spendings);
                                }));
  if (!only_reads) co_await keeping.join();
  std::vector<Message> results;
  std::exception_ptr failure;
  try {
    results = co_await calls_.run(active, answering.caller, std::move(uses));
  } catch (...) {
    failure = std::current_exception();
  }
  co_await keeping.join();
  if (failure) std::rethrow_exception(failure);
  for (const auto& result : results) {
    mark.tool_call_ids.push_back(result.tool_call_id);
    if (calls_.acts(result.tool_name)) outcome.last_act = Act{result.tool_name, result.text};
  }
  outcome.steps.push_back(std::move(mark));
  add_results(answering, std::move(results));
}

/// Counts a model call. One that was refused before it used a token has cost nothing.
void Engine::charge(RunOutcome& outcome, const Extension& agent, const Run& run, const Answered& answered) {
  const auto* reply = std::get_if<ModelReply>(&answered.outcome);
  const auto& usage = answered.usage();
  if (!reply && usage == Usage{}) return;
  const auto usd = models_.cost(answered.provider, answered.model, usage);
  outcome.usage += usage;
  outcome.cost_usd += usd.value_or(0);
  outcome.spendings.push_back(costs_.spend(agent, run.thread_id, answered.id(), usage, usd));
}

}  // namespace agw
