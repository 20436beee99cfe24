// Makes the tool calls of a step. See docs/design/permissions.md.
//
// A *step* is a reply of the model that requests calls. A *target* is the file or address that a call acts on, as it
// was actually opened or connected to. *Staged* means turned into a proposal.
//
// The invariants: a tool acts only with a permission for its actual target, decided when it opens that target. Each
// call that began gets one result turn, even if it failed; if that turn cannot be stored, the run fails.
//
//   1. Check that the tool exists, that the input matches its schema, and that the agent may be offered the tool.
//   2. If a person has to be asked and the tool has no target to ask about, ask now, outside the call's time limit.
//   3. Make the call within that limit (bounded_call.cpp). A tool with a target calls `authorize` once it has opened
//      the target, and asks a person if necessary; the time of that wait does not count.
//   4. Store the pictures of the result, then the result as a turn, and publish the end of the call.
//
// Calls run concurrently only if every call of the step only reads. Otherwise a call could see a partial effect of
// another one, although the model expects its calls to take effect in the order in which it wrote them.
//
// Why the permission is current: `request_of` reads stage, mode, limits and grants for each call, so lowering a stage
// or revoking a grant during the run affects the next call. An approval is kept with the target that the person saw,
// and `permission_for` compares the targets: the same tool with another target has to ask again.
//
// After a kill inside a call, the step is on disk (Runs::store_step) and the call has no result turn. Engine::recover
// adds one that reports the interruption; the call is not repeated, because it may have taken effect.

#include "features/engine/call_runner.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/failure.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/bounded_json.hpp"
#include "base/log_ids.hpp"
#include "base/text/utf8.hpp"
#include "tools/input.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// More than the requests that a run may have pending.
constexpr std::size_t max_at_once = 32;
/// Bytes. Only tools that do not limit their output themselves can exceed it.
constexpr std::size_t max_output_length = 4 * max_result_characters + 64 * 1024;
constexpr std::size_t max_quoted_length = 500;
// A tool that limits its own output is never shortened here: a character has at most four bytes.
static_assert(max_output_length >= 4 * max_result_characters);
static_assert(max_quoted_length < max_output_length);

std::int64_t milliseconds_of(steady_clock::duration duration) {
  return std::chrono::duration_cast<milliseconds>(duration).count();
}

bool changes_nothing(const Tool& tool) {
  return tool.effect == ToolEffect::reads || tool.effect == ToolEffect::fetches;
}

/// Whether a person is asked before the call, whose time limit must not include that wait. Tools with a target ask once
/// they know it; commands exclude the wait from their own time limit.
bool asks_before_call(const Tool& tool) {
  return !tool.authorizes_itself || (tool.kind != ToolKind::own && tool.effect != ToolEffect::executes);
}

/// The output as it is stored and sent: valid UTF-8; if it is very long, without its middle.
std::string presentable(const std::string& output) {
  auto text = to_utf8(output);
  if (text.size() <= max_output_length) return text;
  constexpr auto half = max_output_length / 2;
  const auto beginning = utf8_prefix(text, half);
  const auto rest = utf8_prefix(text, text.size() - half).size();
  AGW_ASSERT(beginning.size() <= rest);
  return fmt::format("{}\n[… {} bytes left out …]\n{}", beginning, rest - beginning.size(),
                     std::string_view(text).substr(rest));
}

bool has_tool(const RunClient& client, std::string_view name) {
  const auto& tools = client.tools();
  return contains(tools, name, &ToolDescription::name);
}

std::string quoted(const std::string& text) { return shortened(to_utf8(text), max_quoted_length); }

/// What is wrong with arguments, for the model that has to repeat them: it sees its call without them.
std::string arguments_problem(std::string_view text) {
  constexpr std::size_t shown_before = max_quoted_length / 2;
  const auto [value, has_too_many_values, problem, at] = parse_bounded_json(text, {.max_depth = max_input_depth});
  const auto begin = at > shown_before ? at - shown_before : 0;
  return fmt::format(
      "invalid input: the arguments are not a JSON object of at most {} levels: {}, after {} bytes of {}{}",
      max_input_depth, value ? "another value" : problem, at, begin > 0 ? "…" : "",
      quoted(std::string(text.substr(begin))));
}

std::string dry_text(const ToolUse& use) {
  return fmt::format("dry run: would have called {} with {}", use.name, quoted(to_json(use.input)));
}

/// The result of a call that a person did not allow, for the model.
Permission refused_by_person(const PermissionRequest& decided) {
  Permission refused{.verdict = Permission::Verdict::denied, .reason = "permission denied: "};
  if (decided.by == DecidedBy::timeout) {
    refused.reason += "nobody answered";
  } else if (decided.by != DecidedBy::person || decided.decision == PermissionDecision::allow) {
    refused.reason += "the run was stopped";
  } else {
    const auto why = decided.decision_reason.value_or("");
    refused.reason += why.empty() ? "the person said no" : "the person said no: " + why;
  }
  return refused;
}

/// Milliseconds: the start of a call since the run's, its duration, and how much of it was spent waiting for a person.
struct CallTimes {
  std::int64_t at = 0;
  std::int64_t took = 0;
  std::int64_t waited = 0;
};

json::object turn_metadata(const Run& run, const ToolUse& use, const ToolOutcome& outcome, const CallTimes& times,
                           const json::array& pictures) {
  json::object metadata{{"run_id", run.id},         {"tool_call_id", use.id},       {"tool_name", use.name},
                        {"input", use.input},       {"is_error", outcome.is_error}, {"at_ms", times.at},
                        {"duration_ms", times.took}};
  if (!pictures.empty()) metadata["pictures"] = pictures;
  if (times.waited > 0) metadata["waited_ms"] = times.waited;
  if (!outcome.found_tools.empty())
    metadata["found_tools"] = json::array(outcome.found_tools.begin(), outcome.found_tools.end());
  return metadata;
}

/// The schema of a deferred tool, because a model that calls it with invalid input may not have seen the schema.
std::string unseen_schema(const RunningAgent& caller, const Tool& tool) {
  const auto* const deferred = find_deferred(caller.deferred_tools, tool.description.name);
  return deferred ? "\nIts input has this schema: " + to_json(*deferred->input_schema) : std::string();
}

std::string what_failed(std::exception_ptr failure, const std::string& tool) {
  const auto [error, cause] = as_failure(failure);
  if (!cause.empty()) log::error("tool {}: {}", tool, cause);
  if (error.error() == internal_error) return "internal error: the tool failed, and the gateway's log says why";
  // Refusals by the API lack the prefix of refused tool calls.
  const bool is_forbidden = error.status() == 403 && !error.error().starts_with("permission denied");
  const auto said = (is_forbidden ? "permission denied: " : "") + error.error();
  return error.extra().empty() ? said : fmt::format("{}: {}", said, to_json(error.extra()));
}

}  // namespace

/// The calls of one step. Each worker takes the next call until none is left.
struct CallRunner::StepCalls {
  ActiveRunPointer active;
  RunningAgentPointer caller;
  std::vector<ToolUse> uses;
  std::vector<ToolPointer> tools;  ///< null: no tool has that name
  std::size_t next = 0;
  std::vector<std::optional<Message>> results;
};

CallRunner::CallRunner(Loop& loop, Runs& runs, Threads& threads, const Stages& stages, Proposals& proposals,
                       Integrations& integrations, Approvals& approvals, Attachments& attachments,
                       BlockingPool& blocking, const ToolSet& tools, FileRecorder& recorder)
    : loop_(loop),
      runs_(runs),
      threads_(threads),
      stages_(stages),
      proposals_(proposals),
      integrations_(integrations),
      approvals_(approvals),
      attachments_(attachments),
      blocking_(blocking),
      tools_(tools),
      recorder_(recorder) {}

Task<> CallRunner::wait_for_integrations(const RunningAgent& caller, StopSource& stop) const {
  if (caller.mode == ThreadMode::act) co_await integrations_.wait_until_tried(stop);
}

std::vector<ToolPointer> CallRunner::usable_tools(const RunningAgent& caller) const {
  std::vector<ToolPointer> usable;
  const auto grants = grants_of(caller);
  const bool may_ask = can_be_asked(caller);
  for (const auto& [name, tool] : tools_.all()) {
    auto request = tool_request(caller, stages_, *tool);
    request.grants = grants;
    request.may_ask = may_ask;
    if (is_offered(request)) usable.push_back(tool);
  }
  return usable;
}

bool CallRunner::offers(const RunningAgent& caller, std::string_view tool_name) const {
  const auto tool = tools_.find(tool_name);
  return tool && is_offered(request_of(caller, *tool));
}

bool CallRunner::can_reach_person(const RunningAgent& caller) const {
  const bool can_ask = !caller.asks_in || caller.asks_in->takes_requests;
  return can_ask && !caller.asks_thread.empty() && approvals_.can_be_answered(caller.asks_thread);
}

bool CallRunner::can_be_asked(const RunningAgent& caller) const {
  return caller.asks_permission && can_reach_person(caller);
}

GrantedPatterns CallRunner::grants_of(const RunningAgent& caller) const {
  return approvals_.grants_for(caller.agent->id,
                               caller.asks_thread.empty() ? caller.run.thread_id : caller.asks_thread);
}

ToolRequest CallRunner::request_of(const RunningAgent& caller, const Tool& tool) const {
  auto request = tool_request(caller, stages_, tool);
  request.grants = grants_of(caller);
  request.may_ask = can_be_asked(caller);
  return request;
}

std::optional<std::string> CallRunner::why_offered(const RunningAgent& caller, const std::string& tool_name) const {
  std::string granted;
  if (const auto grants = grants_of(caller)) {
    for (const auto& grant : *grants) {
      if (grant.tool == tool_name) granted += (granted.empty() ? "granted: " : ", ") + grant.pattern;
    }
  }
  if (!granted.empty()) return granted;
  const auto tool = tools_.find(tool_name);
  if (!tool || is_offered(tool_request(caller, stages_, *tool))) return std::nullopt;
  return "a person is asked";
}

/// The current ones, because the stage may have been lowered during the run.
json::object CallRunner::limits_to_inherit(const RunningAgent& caller) const {
  const auto own = run_stage(stages_.of(caller.agent->id), caller.inherited.stage);
  const auto stage = run_stage(own, caller.limits.stage);
  return {{"stage", to_text(stage)}, {"mode", to_text(caller.mode)}, {"depth", caller.inherited.depth + 1}};
}

bool CallRunner::are_read_only(const std::vector<ToolUse>& uses) const {
  return std::ranges::all_of(uses, [this](const ToolUse& use) {
    const auto tool = tools_.find(use.name);
    return !tool || changes_nothing(*tool);
  });
}

bool CallRunner::may_call(const RunningAgent& caller, const std::string& tool_name, const ToolTarget& target) const {
  const auto tool = tools_.find(tool_name);
  if (!tool) return false;
  auto request = request_of(caller, *tool);
  request.target = target;
  return permission_for(request).verdict == Permission::Verdict::allowed;
}

bool CallRunner::has_side_effects(const std::string& tool_name) const {
  const auto tool = tools_.find(tool_name);
  return !tool || !changes_nothing(*tool);
}

Task<std::vector<Message>> CallRunner::run(ActiveRunPointer active, RunningAgentPointer caller,
                                           std::vector<ToolUse> uses) {
  StepCalls step{.active = std::move(active), .caller = std::move(caller), .uses = std::move(uses)};
  for (auto& use : step.uses) {
    step.tools.push_back(tools_.find(use.name));
    if (const auto& tool = step.tools.back()) correct_input(use.input, *tool->description.input_schema);
  }
  step.results.resize(step.uses.size());
  const auto workers = are_read_only(step.uses) ? std::min(max_at_once, step.uses.size()) : 1;
  if (workers == 1) {
    co_await work(step);
  } else {
    TaskGroup group(loop_);
    for (std::size_t i = 0; i < workers; ++i) group.spawn(work(step));
    co_await group.join();
  }
  std::vector<Message> results;
  for (auto& result : step.results) {
    if (result) results.push_back(std::move(*result));
  }
  AGW_ASSERT(step.next <= step.uses.size());
  // Each call that began has a result.
  AGW_ASSERT(results.size() == step.next);
  AGW_ASSERT(step.next == step.uses.size() || step.active->stop.requested());
  co_return results;
}

Task<> CallRunner::work(StepCalls& step) {
  AGW_ASSERT(step.tools.size() == step.uses.size());
  AGW_ASSERT(step.results.size() == step.uses.size());
  while (step.next < step.uses.size() && !step.active->stop.requested()) {
    const auto number = step.next++;
    AGW_ASSERT(!step.results[number]);
    step.results[number] = co_await call(step, step.uses[number], step.tools[number]);
  }
}

Task<Message> CallRunner::call(const StepCalls& step, const ToolUse& use, ToolPointer tool) {
  auto& active = *step.active;
  AGW_ASSERT(active.started);
  const auto began = steady_clock::now();
  AGW_DEBUG_ASSERT(began >= active.began);
  const auto& waits = (step.caller->asks_in ? step.caller->asks_in : step.active)->person_waits;
  const auto waited_before = waits.waited();
  runs_.begin_call(active, {{"toolCallId", use.id}, {"toolName", use.name}, {"input", use.input}});
  auto outcome = co_await outcome_of(step, use, std::move(tool));
  outcome.output = presentable(outcome.output);
  const CallTimes times{.at = milliseconds_of(began - active.began),
                        .took = milliseconds_of(steady_clock::now() - began),
                        .waited = milliseconds_of(waits.waited() - waited_before)};
  const auto pictures = co_await keep_pictures(active.run, use, outcome);
  const auto turn_id = active.turns.emplace_back(new_id());
  co_await threads_.add_turn({.thread_id = active.run.thread_id,
                              .role = Role::tool,
                              .content = outcome.output,
                              .metadata = turn_metadata(active.run, use, outcome, times, pictures),
                              .id = turn_id,
                              .in_reply_to = active.run.turn_id});
  json::object end{{"toolCallId", use.id},
                   {"toolName", use.name},
                   {"output", outcome.output},
                   {"isError", outcome.is_error},
                   {"durationMs", times.took}};
  if (!pictures.empty()) end["pictures"] = pictures;
  runs_.end_call(active, end);
  Message message;
  message.role = Message::Role::tool;
  message.text = std::move(outcome.output);
  message.tool_call_id = use.id;
  message.tool_name = use.name;
  message.is_error = outcome.is_error;
  message.images = std::move(outcome.images);
  message.found_tools = std::move(outcome.found_tools);
  co_return message;
}

/// The call has succeeded, whether or not its pictures can be stored for people.
Task<json::array> CallRunner::keep_pictures(const Run& run, const ToolUse& use, const ToolOutcome& outcome) {
  if (outcome.images.empty()) co_return json::array();
  try {
    co_return attachment_list(co_await attachments_.add_pictures(run.thread_id, use.name, outcome.images));
  } catch (const std::exception& error) {
    log::warn({.run = run.id}, "the pictures that {} returned could not be stored: {}", use.name, error.what());
  }
  co_return json::array();
}

Task<ToolOutcome> CallRunner::outcome_of(const StepCalls& step, const ToolUse& use, ToolPointer tool) {
  if (const auto& client = step.active->client; client && has_tool(*client, use.name))
    co_return co_await make_by_client(step, use, client);
  if (!tool) co_return failed(no_such_tool(*step.caller, step.active->client.get(), use.name));
  AGW_ASSERT(tool->description.name == use.name);
  if (use.is_malformed) co_return failed(arguments_problem(use.arguments));
  if (const auto problem = input_problem(*tool->description.input_schema, use.input)) {
    co_return failed("invalid input: " + *problem + unseen_schema(*step.caller, *tool));
  }
  auto request = request_of(*step.caller, *tool);
  if (step.caller->dry) request.may_ask = false;
  if (!is_offered(request)) co_return failed(permission_for(request).reason);
  if (!tool->authorizes_itself) {
    const auto permission = permission_for(request);
    using enum Permission::Verdict;
    if (permission.verdict != allowed && permission.verdict != ask) co_return failed(permission.reason);
  }
  if (step.caller->dry && tool->effect != ToolEffect::reads) co_return ToolOutcome{dry_text(use)};
  try {
    co_return co_await make(step, use, *tool, std::move(request));
  } catch (...) {
    co_return failed(what_failed(std::current_exception(), use.name));
  }
}

/// Changes that the client's tools make to files are only noted as not recorded. The person may edit the same files
/// during the call, and those edits must never be attributed to the run.
Task<ToolOutcome> CallRunner::make_by_client(const StepCalls& step, const ToolUse& use,
                                             std::shared_ptr<RunClient> client) {
  if (client->changes_files()) {
    co_await recorder_.record_uncovered(step.caller->run, "/", "commands and tools of an editor can change all files");
  }
  auto [text, is_error, images] = co_await client->result(use.id, step.active->stop);
  co_return ToolOutcome{.output = std::move(text), .is_error = is_error, .images = std::move(images)};
}

struct CallRunner::Call {
  const StepCalls& step;
  const Tool& tool;
  ToolRequest request;
  const json::object& input;
  StopSource stop{};
};

Task<ToolOutcome> CallRunner::make(const StepCalls& step, const ToolUse& use, const Tool& tool, ToolRequest request) {
  AGW_ASSERT(tool.call);
  AGW_ASSERT(!use.is_malformed);
  AGW_ASSERT(request.tool == tool.description.name);
  // Nobody has approved anything yet.
  AGW_ASSERT(!request.approved);
  AGW_ASSERT(!step.caller->dry || tool.effect == ToolEffect::reads);
  // Since the run began, the agent may have been deleted, or renamed, which moves its directory.
  auto run = step.caller->run;
  run.agent_name = run.roots.agent = stages_.require_agent(run.agent_id)->name;
  run.inherited = limits_to_inherit(*step.caller);
  const auto& asking = step.caller->asks_in ? step.caller->asks_in : step.active;
  Call call{.step = step, .tool = tool, .request = std::move(request), .input = use.input};
  const ToolCall made{
      .id = use.id,
      .input = use.input,
      .run = run,
      .stop = call.stop,
      .authorize =
          [&call](const ToolTarget& target) {
            call.request.target = target;
            return permission_for(call.request);
          },
      .stage = [this,
                &run](StagedChange change) { return proposals_.stage(run.agent_name, run.run_id, std::move(change)); },
      .ask_permission = [this, &call](ToolTarget target,
                                      std::string diff) { return ask_permission(call, std::move(target), diff); },
      .ask_person = [this, &call](PersonQuestion question,
                                  StopSource& stop) { return ask_person(call, std::move(question), stop); },
      .find_tools = tool_finder(step.caller),
      .buffers = step.active->client ? step.active->client->buffers() : nullptr,
      .waits = &asking->person_waits};
  const StopSource::Listener when_stopped(step.active->stop, [&call] { call.stop.request(); });
  if (asks_before_call(tool) && made.authorize({}).verdict == Permission::Verdict::ask) {
    const auto permission = co_await made.permit({});
    if (permission.verdict != Permission::Verdict::allowed) co_return failed(permission.reason);
  }
  co_return co_await bounded_call(loop_, tool, made, step.active->stop, asking->person_waits);
}

Task<Permission> CallRunner::ask_permission(Call& call, ToolTarget target, std::string diff) {
  const auto& caller = *call.step.caller;
  call.request.target = target;
  const auto permission = permission_for(call.request);
  if (permission.verdict != Permission::Verdict::ask) co_return permission;
  AGW_ASSERT(caller.asks_in);
  AGW_ASSERT(!caller.dry);
  AGW_ASSERT(permission.otherwise == Permission::Verdict::denied ||
             permission.otherwise == Permission::Verdict::staged);
  if (approvals_.is_full(*caller.asks_in)) {
    co_return Permission{.verdict = Permission::Verdict::denied,
                         .reason = "permission denied: too many requests wait for a person or were not allowed"};
  }
  const bool can_propose = permission.otherwise == Permission::Verdict::staged;
  const auto decided = co_await approvals_.ask({.run = caller.asks_in,
                                                .agent_id = caller.agent->id,
                                                .agent = caller.run.agent_name,
                                                .tool = call.tool.description.name,
                                                .input = call.input,
                                                .target = shown_target(call.request),
                                                .reason = permission.rule,
                                                .diff = std::move(diff),
                                                .can_propose = can_propose,
                                                .pattern = grant_pattern(call.request)},
                                               call.stop);
  if (!decided) co_return Permission{.verdict = permission.otherwise, .reason = permission.reason};
  if (decided->decision == PermissionDecision::propose) co_return Permission{.verdict = Permission::Verdict::staged};
  if (decided->decision != PermissionDecision::allow || call.stop.requested()) co_return refused_by_person(*decided);
  call.request.approved = std::move(target);
  call.request.grants = grants_of(caller);
  const auto approved = permission_for(call.request);
  // Asking again for what was just approved would never end.
  AGW_ASSERT(approved.verdict != Permission::Verdict::ask);
  co_return approved;
}

Task<PersonAnswer> CallRunner::ask_person(Call& call, PersonQuestion question, StopSource& stop) {
  const auto& caller = *call.step.caller;
  if (!can_reach_person(caller)) co_return PersonAnswer{.reason = "nobody is there"};
  AGW_ASSERT(caller.asks_in);
  const auto decided = co_await approvals_.ask(
      {.kind = PermissionKind::question,
       .run = caller.asks_in,
       .agent_id = caller.agent->id,
       .agent = caller.run.agent_name,
       .tool = call.tool.description.name,
       .input = call.input,
       .target = call.tool.description.name,
       .question = AskedQuestion{std::move(question.question), std::move(question.options), std::move(question.form)}},
      stop);
  if (!decided) co_return PersonAnswer{.reason = "too much is being asked at once, or the question is too long"};
  if (decided->answer) co_return PersonAnswer{PersonAnswer::Kind::answered, *decided->answer};
  const bool is_persons = decided->by == DecidedBy::person;
  co_return PersonAnswer{.kind = is_persons ? PersonAnswer::Kind::declined : PersonAnswer::Kind::unanswered,
                         .reason = is_persons ? decided->decision_reason.value_or("") : "nobody answered"};
}

}  // namespace agw
