// One answer: call the model, make the tool calls it requests, and repeat until it requests none.
//
// The invariant: before a call can change anything, the step that requests it and all text up to it are on disk. After
// a kill, the next start therefore knows which calls may have taken effect.
//
//   1. `prepare`: load the agent's permissions, system prompt and tools, and as much of the conversation as fits.
//   2. `take_messages`: add messages that joined the answer since the last request to the next one.
//   3. `ask`: call the model. Text is published as it arrives; the answer's calls are the result.
//   4. `call_tools`: store the step, make the calls (call_runner.cpp), and append the results to the conversation.
//
// Calls that only read start while the step is still being stored, which saves the time of a commit. That is safe
// because they change nothing, and because their results are stored after the step: writes complete in the order of
// their calls.
//
// Why it terminates: each round counts towards the agent's maximum of steps and spends from its budget, RepeatGuard
// ends an answer that repeats the same call, and a requested stop is checked before each call of the model.

#include "features/engine/agent_loop.hpp"

#include <algorithm>
#include <chrono>

#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/context/service.hpp"
#include "features/engine/outcome.hpp"
#include "features/engine/steering.hpp"
#include "features/permissions/service.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

constexpr std::int64_t usual_max_steps = 50;
constexpr std::int64_t max_max_steps = std::int64_t{1} << 40;
static_assert(usual_max_steps <= max_max_steps);
constexpr std::string_view between_steps = "\n\n";
constexpr std::string_view last_step =
    "This is the last step of this answer: call no tool. Say what has been done, and what is left to do.";

/// The mode in the run's order, which a command or a job may set; otherwise the thread's mode.
ThreadMode run_mode(const Run& run, const Thread& thread) { return enum_member(run.order, "mode", thread.mode); }

std::int64_t max_steps(const Extension& agent) {
  return number_input(agent.definition.members(), "max_steps", usual_max_steps, 1, max_max_steps);
}

bool is_named(const std::vector<ToolDescription>& tools, std::string_view name) {
  return contains(tools, name, &ToolDescription::name);
}

/// Adds a program's instructions and tools to the request. Its tools replace the agent's tools of the same names.
void add_program(const RunClient& client, std::string& system, RequestTools& tools) {
  if (!client.system().empty()) system += "\n\n" + client.system();
  std::erase_if(tools.offered, [&](const auto& tool) {
    const bool is_replaced = is_named(client.tools(), tool.name);
    if (is_replaced) tools.tokens -= estimated_tokens(tool);
    return is_replaced;
  });
  AGW_ASSERT(tools.tokens >= 0);
  for (const auto& tool : client.tools()) {
    tools.tokens += estimated_tokens(tool);
    tools.offered.push_back(tool);
  }
}

/// Removes the calls of the program's tools from `uses` and returns them.
std::vector<ToolUse> take_calls_of(const RunClient* client, std::vector<ToolUse>& uses) {
  std::vector<ToolUse> taken;
  if (!client) return taken;
  std::erase_if(uses, [&](ToolUse& use) {
    const bool is_clients = is_named(client->tools(), use.name);
    if (is_clients) taken.push_back(use);
    return is_clients;
  });
  AGW_DEBUG_ASSERT(std::ranges::none_of(uses, [&](const auto& use) { return is_named(client->tools(), use.name); }));
  return taken;
}

std::chrono::milliseconds whole_milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

json::array tool_call_members(const std::vector<ToolUse>& uses) {
  json::array calls;
  for (const auto& use : uses) calls.push_back(json::object{{"id", use.id}, {"name", use.name}, {"input", use.input}});
  return calls;
}

}  // namespace

AgentLoop::AgentLoop(const EngineServices& services, ModelLimits& limits, ActiveRunPointer active,
                     ExtensionPointer agent, std::vector<ModelChoice> choices, ActiveRunPointer asks_in,
                     RunOutcome& outcome)
    : services_(services),
      active_(std::move(active)),
      caller_(std::make_shared<RunningAgent>()),
      window_({.blocking = services.blocking,
               .database = services.database,
               .clock = services.clock,
               .threads = services.threads,
               .models = services.models,
               .attachments = services.attachments,
               .limits = limits},
              active_->run, agent, std::move(choices), active_->stop,
              [this](const Completion& completion) { record_usage(completion); }),
      outcome_(outcome) {
  caller_->agent = std::move(agent);
  if (asks_in) caller_->asks_thread = asks_in->run.thread_id;
  caller_->asks_in = std::move(asks_in);
  caller_->asks_permission = services_.approvals.asks(*caller_->agent);
}

Task<> AgentLoop::run() {
  AGW_ASSERT(outcome_.steps.empty());
  AGW_ASSERT(outcome_.model_calls.empty());
  outcome_.model = window_.model().id();
  active_->progress = progress_members(outcome_);
  if (!may_continue(0)) co_return;
  co_await prepare();
  for (std::int64_t calls = 0; may_continue(calls); ++calls) {
    AGW_ASSERT(std::cmp_equal(outcome_.steps.size(), calls));
    if (calls > 0) co_await take_messages();
    if (calls > 0 && calls + 1 == max_steps(agent())) window_.add_instructions(std::string(last_step));
    auto uses = co_await ask();
    if (uses.empty()) co_return;
    if (const auto why = repeats_.problem(uses)) {
      outcome_.finish_reason = "error";
      outcome_.error = *why;
      co_return;
    }
    co_await call_tools(std::move(uses));
  }
}

/// Whether the model may be called again after `calls` calls. If not, sets the reason in the outcome.
bool AgentLoop::may_continue(std::int64_t calls) {
  AGW_ASSERT(calls >= 0);
  AGW_ASSERT(calls <= max_steps(agent()));
  if (active_->stop.requested()) {
    outcome_.stopped = outcome_.partial = true;
    return false;
  }
  const bool is_last = calls == max_steps(agent());
  if (!is_last && services_.costs.may_spend(agent())) return true;
  outcome_.finish_reason = is_last ? "max-steps" : "budget";
  return false;
}

/// Determines the agent's permissions, and loads its prompt, its tools and the conversation.
Task<> AgentLoop::prepare() {
  AGW_ASSERT(caller_->run.run_id.empty());
  const auto& run = active_->run;
  const auto thread = co_await services_.threads.require(run.thread_id);
  const auto roots = services_.prompts.roots(agent(), thread.project_id);
  caller_->mode = run_mode(run, thread);
  caller_->inherited = inherited_limits_in(run.order);
  caller_->dry = is_true(run.order, "dry");
  caller_->own_file = string_or_empty(run.order, own_file_member);
  caller_->limits = agent_limits(agent(), services_.extensions, roots);
  caller_->run = {.run_id = run.id,
                  .thread_id = thread.id,
                  .turn_id = run.turn_id,
                  .agent_id = agent().id,
                  .agent_name = agent().name,
                  .project_id = thread.project_id,
                  .roots = roots};
  co_await services_.calls.wait_for_integrations(*caller_, active_->stop);
  const auto window = services_.models.info(window_.model()).context_window;
  auto tools = divide_tools(services_.calls.usable_tools(*caller_), window);
  caller_->deferred_tools = tools.deferred;
  auto system =
      co_await services_.prompts.text(caller_->agent, thread.project_id, caller_->mode,
                                      services_.calls.offers(*caller_, read_skill_tool_name), std::move(tools.listing));
  CallSettings settings;
  if (active_->client) {
    add_program(*active_->client, system, tools);
    settings = active_->client->settings();
  }
  asked_at_ = std::chrono::steady_clock::now();
  co_await window_.load(std::move(system), std::move(tools), std::move(settings));
}

/// Adds the messages that steer the answer to the next request.
Task<> AgentLoop::take_messages() {
  auto messages = messages_for(services_.runs, {active_, caller_->mode, outcome_.model});
  if (messages.empty()) co_return;
  const auto steps = static_cast<std::int64_t>(outcome_.steps.size());
  co_await window_.add_messages(co_await steer(services_, active_, std::move(messages), steps));
}

/// Calls the model once. Returns the tool calls it requests; none if the answer is complete.
Task<std::vector<ToolUse>> AgentLoop::ask() {
  auto& active = *active_;
  auto text_begin = active.log.content().size();
  bool has_streamed = false;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.text.empty()) return;
    has_streamed = true;
    time_reasoning(delta.kind == Delta::Kind::reasoning);
    if (delta.kind == Delta::Kind::reasoning) return services_.runs.reasoning(active, delta.text);
    if (std::exchange(needs_separator_, false)) {
      services_.runs.text(active, between_steps);
      text_begin = active.log.content().size();
    }
    services_.runs.text(active, delta.text);
  };
  asked_at_ = std::chrono::steady_clock::now();
  auto completion = co_await window_.ask(on_delta);
  time_reasoning(false);
  outcome_.model = completion.id();
  apply_model_outcome(outcome_, completion.outcome, has_streamed);
  record_usage(completion);
  active.progress = progress_members(outcome_);
  const auto* failure = std::get_if<ModelFailure>(&completion.outcome);
  if (failure && active.client) active.client->model_failed(*failure);
  auto* reply = std::get_if<ModelReply>(&completion.outcome);
  // The last call of a truncated answer may be incomplete.
  if (!reply || reply->stop == StopReason::length || reply->stop == StopReason::content_filter)
    co_return std::vector<ToolUse>();
  outcome_.suggestions = std::move(reply->suggestions);
  if (!reply->provider_blocks.empty()) {
    const auto step = static_cast<std::int64_t>(outcome_.steps.size()) + 1;
    AGW_ASSERT(outcome_.thoughts.empty() || outcome_.thoughts.back().step < step);
    outcome_.thoughts.push_back({step, completion.id(), reply->provider_blocks});
  }
  // The answer ends here: no need to copy its text, which may be long, into the request.
  if (reply->tool_uses.empty()) co_return std::vector<ToolUse>();
  AGW_ASSERT(text_begin <= active.log.content().size());
  needs_separator_ = !active.log.content().empty();
  co_return window_.add_reply(completion.id(), active.log.content().substr(text_begin), std::move(*reply));
}

/// Called for each delta, and at the end of the model's reply.
void AgentLoop::time_reasoning(bool reasons) {
  const auto now = std::chrono::steady_clock::now();
  if (reasons_since_ && !reasons) outcome_.reasoned += whole_milliseconds(now - *std::exchange(reasons_since_, {}));
  if (reasons && !reasons_since_) reasons_since_ = now;
  AGW_ASSERT(reasons_since_.has_value() == reasons);
}

void AgentLoop::record_usage(const Completion& completion) {
  // `prepare` has set it, and both are of the steady clock.
  AGW_DEBUG_ASSERT(asked_at_ >= active_->began);
  const auto before = outcome_.cost_usd;
  agw::record_usage(outcome_, services_, agent(), active_->run.thread_id, completion);
  if (active_->client) active_->client->used(completion.usage());
  const auto now = std::chrono::steady_clock::now();
  outcome_.model_calls.push_back({.model = completion.id(),
                                  .at = whole_milliseconds(asked_at_ - active_->began),
                                  .duration = whole_milliseconds(now - asked_at_),
                                  .usage = completion.usage(),
                                  .cost_usd = outcome_.cost_usd - before});
  asked_at_ = now;
}

Task<> AgentLoop::call_tools(std::vector<ToolUse> uses) {
  AGW_ASSERT(!uses.empty());
  const auto wanted = uses.size();
  StepMark mark{count_characters(active_->log.content()), {}};
  AGW_ASSERT(outcome_.steps.empty() || outcome_.steps.back().text_end <= mark.text_end);
  // Calls that only read may begin before the step is on disk: their results are stored after it.
  TaskGroup keeping(services_.loop);
  const bool only_reads = services_.calls.are_read_only(uses);
  keeping.spawn(keep_step({mark.text_end, tool_call_members(uses)}));
  if (!only_reads) co_await keeping.join();
  std::vector<Message> results;
  std::exception_ptr failure;
  try {
    auto of_client = take_calls_of(active_->client.get(), uses);
    results = co_await services_.calls.run(active_, caller_, std::move(uses));
    if (!of_client.empty() && !active_->stop.requested()) {
      co_await keeping.join();
      active_->client->call(of_client);
      for (auto& result : co_await services_.calls.run(active_, caller_, std::move(of_client)))
        results.push_back(std::move(result));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await keeping.join();
  if (failure) std::rethrow_exception(failure);
  AGW_ASSERT(results.size() <= wanted);
  // Services refuse a conversation in which a call has no result.
  AGW_ASSERT(results.size() == wanted || active_->stop.requested());
  co_await window_.offer(end_step(mark, results));
  window_.add_results(std::move(results));
}

/// Stores the step, and what the calls of the model up to it have cost.
Task<> AgentLoop::keep_step(RunStep step) {
  co_await services_.runs.store_step(
      active_, std::move(step),
      [spendings = outcome_.spendings](Connection& connection) { Costs::record(connection, spendings); });
  // If this failed, they are stored with the answer.
  outcome_.spendings.clear();
}

/// Returns the tools that the calls have found.
std::vector<std::string> AgentLoop::end_step(StepMark& mark, const std::vector<Message>& results) {
  std::vector<std::string> found_tools;
  for (const auto& result : results) {
    std::ranges::copy(result.found_tools, std::back_inserter(found_tools));
    mark.tool_call_ids.push_back(result.tool_call_id);
    if (services_.calls.has_side_effects(result.tool_name))
      outcome_.last_side_effect = SideEffect{result.tool_name, result.text};
  }
  outcome_.steps.push_back(std::move(mark));
  return found_tools;
}

}  // namespace agw
