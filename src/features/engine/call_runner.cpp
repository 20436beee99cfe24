#include "features/engine/call_runner.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/group.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "features/engine/bounded_call.hpp"
#include "tools/failed.hpp"
#include "tools/input_check.hpp"
#include "tools/text_limit.hpp"

namespace agw {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t most_at_once = 8;
/// More than any tool gives that bounds its answer itself.
constexpr std::size_t longest_output = 4 * most_answer_characters + 64 * 1024;
constexpr std::size_t longest_quoted = 500;

bool changes_nothing(const Tool& tool) {
  return tool.effect == ToolEffect::reads || tool.effect == ToolEffect::fetches;
}

/// Fit to be stored and sent: UTF-8, and its middle left out where it is very long.
std::string presentable(const std::string& output) {
  auto text = to_utf8(output);
  if (text.size() <= longest_output) return text;
  constexpr auto half = longest_output / 2;
  const auto beginning = utf8_prefix(text, half);
  const auto rest = utf8_prefix(text, text.size() - half).size();
  return fmt::format("{}\n[… {} bytes left out …]\n{}", beginning, rest - beginning.size(),
                     std::string_view(text).substr(rest));
}

std::string quoted(const std::string& text) { return shortened(to_utf8(text), longest_quoted); }

std::string dry_text(const ToolUse& use) {
  return fmt::format("dry run: would have called {} with {}", use.name, quoted(to_json(use.input)));
}

std::string what_failed(std::exception_ptr failure, const std::string& tool) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    // The API says what is forbidden in its own words.
    const bool is_forbidden = error.status() == 403 && !error.error().starts_with("permission denied");
    const auto said = (is_forbidden ? "permission denied: " : "") + error.error();
    return error.extra().empty() ? said : fmt::format("{}: {}", said, to_json(error.extra()));
  } catch (const std::exception& error) {
    log::error("tool {}: {}", tool, error.what());
  }
  return "internal error: the tool failed, and the gateway's log says why";
}

}  // namespace

/// The calls of one step, and who takes the next of them.
struct CallRunner::StepCalls {
  ActiveRunPointer active;
  RunningAgentPointer caller;
  std::vector<ToolUse> uses;
  std::vector<ToolPointer> tools;  ///< null: there is none of that name
  std::size_t next = 0;
  std::vector<std::optional<Message>> results;
};

CallRunner::CallRunner(Loop& loop, Runs& runs, Threads& threads, const Stages& stages, const ToolSet& tools)
    : loop_(loop), runs_(runs), threads_(threads), stages_(stages), tools_(tools) {}

Task<> CallRunner::settle(const RunningAgent& caller, Stop& stop) const {
  if (settle_ && caller.mode == ThreadMode::act) co_await settle_(stop);
}

std::vector<ToolDescription> CallRunner::offered(const RunningAgent& caller) const {
  std::vector<ToolDescription> descriptions;
  for (const auto& [name, tool] : tools_.all()) {
    if (is_offered(request_of(caller, stages_, *tool))) descriptions.push_back(tool->description);
  }
  return descriptions;
}

json::object CallRunner::handed_on(const RunningAgent& caller) const {
  const auto stage = run_stage(stages_.of(caller.agent->id), caller.handed_down.stage);
  return {{"stage", to_text(stage)}, {"mode", to_text(caller.mode)}, {"depth", caller.handed_down.depth + 1}};
}

bool CallRunner::only_read(const std::vector<ToolUse>& uses) const {
  return std::ranges::all_of(uses, [this](const ToolUse& use) {
    const auto tool = tools_.find(use.name);
    return !tool || changes_nothing(*tool);
  });
}

bool CallRunner::may_call(const RunningAgent& caller, const std::string& tool_name, const ToolTarget& target) const {
  const auto tool = tools_.find(tool_name);
  if (!tool) return false;
  auto request = request_of(caller, stages_, *tool);
  request.target = target;
  return permission_for(request).verdict == Permission::Verdict::allowed;
}

bool CallRunner::acts(const std::string& tool_name) const {
  const auto tool = tools_.find(tool_name);
  return !tool || !changes_nothing(*tool);
}

Task<std::vector<Message>> CallRunner::run(ActiveRunPointer active, RunningAgentPointer caller,
                                           std::vector<ToolUse> uses) {
  StepCalls step{.active = std::move(active), .caller = std::move(caller), .uses = std::move(uses)};
  for (const auto& use : step.uses) step.tools.push_back(tools_.find(use.name));
  step.results.resize(step.uses.size());
  const auto workers = only_read(step.uses) ? std::min(most_at_once, step.uses.size()) : 1;
  if (workers == 1) {
    co_await work(step);
  } else {
    Group group(loop_);
    for (std::size_t i = 0; i < workers; ++i) group.spawn(work(step));
    co_await group.join();
  }
  std::vector<Message> results;
  for (auto& result : step.results) {
    if (result) results.push_back(std::move(*result));
  }
  co_return results;
}

Task<> CallRunner::work(StepCalls& step) {
  while (step.next < step.uses.size() && !step.active->stop.requested()) {
    const auto number = step.next++;
    step.results[number] = co_await call(step, step.uses[number], step.tools[number]);
  }
}

Task<Message> CallRunner::call(const StepCalls& step, const ToolUse& use, ToolPointer tool) {
  auto& active = *step.active;
  const auto began = steady_clock::now();
  runs_.begin_call(active, {{"toolCallId", use.id}, {"toolName", use.name}, {"input", use.input}});
  auto outcome = co_await outcome_of(step, use, std::move(tool));
  outcome.output = presentable(outcome.output);
  const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began).count();
  const auto turn_id = active.turns.emplace_back(new_id());
  co_await threads_.add_turn({.thread_id = active.run.thread_id,
                              .role = Role::tool,
                              .content = outcome.output,
                              .metadata = json::object{{"run_id", active.run.id},
                                                       {"tool_call_id", use.id},
                                                       {"tool_name", use.name},
                                                       {"input", use.input},
                                                       {"is_error", outcome.is_error},
                                                       {"duration_ms", took}},
                              .id = turn_id,
                              .in_reply_to = active.run.turn_id});
  runs_.end_call(active, {{"toolCallId", use.id},
                          {"toolName", use.name},
                          {"output", outcome.output},
                          {"isError", outcome.is_error},
                          {"durationMs", took}});
  Message message;
  message.role = Message::Role::tool;
  message.text = std::move(outcome.output);
  message.tool_call_id = use.id;
  message.tool_name = use.name;
  message.is_error = outcome.is_error;
  message.images = std::move(outcome.images);
  co_return message;
}

Task<ToolOutcome> CallRunner::outcome_of(const StepCalls& step, const ToolUse& use, ToolPointer tool) {
  if (!tool) co_return failed(fmt::format("there is no tool {}", use.name));
  if (use.raw_input) {
    co_return failed(fmt::format("invalid input: the arguments are not a JSON object of at most {} levels: {}",
                                 deepest_input, quoted(*use.raw_input)));
  }
  if (const auto problem = input_problem(tool->description.input_schema, use.input)) {
    co_return failed("invalid input: " + *problem);
  }
  auto request = request_of(*step.caller, stages_, *tool);
  if (!is_offered(request)) co_return failed(permission_for(request).reason);
  if (!tool->judges_itself) {
    const auto permission = permission_for(request);
    if (permission.verdict != Permission::Verdict::allowed) co_return failed(permission.reason);
  }
  if (step.caller->dry && tool->effect != ToolEffect::reads) co_return ToolOutcome{dry_text(use)};
  std::exception_ptr failure;
  try {
    co_return co_await make(step, use, *tool, std::move(request));
  } catch (...) {
    failure = std::current_exception();
  }
  co_return failed(what_failed(failure, use.name));
}

Task<ToolOutcome> CallRunner::make(const StepCalls& step, const ToolUse& use, const Tool& tool, ToolRequest request) {
  // It may have been renamed, and its directory moved, or deleted since the run began.
  auto run = step.caller->run;
  run.agent_name = run.roots.agent = stages_.require_agent(run.agent_id)->name;
  Stop stop;
  const ToolCall made{.id = use.id,
                      .input = use.input,
                      .run = run,
                      .stop = stop,
                      .judge =
                          [request = std::move(request)](const ToolTarget& target) mutable {
                            request.target = target;
                            return permission_for(request);
                          },
                      .stage = [this, &run](StagedChange change) { return stage(run, std::move(change)); }};
  co_return co_await bounded_call(loop_, tool, made, step.active->stop);
}

Task<std::string> CallRunner::stage(const ToolRun& run, StagedChange change) {
  if (!stage_) throw NotImplemented("changes cannot be staged");
  co_return co_await stage_(run, std::move(change));
}

}  // namespace agw
