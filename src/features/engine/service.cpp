// Requests of clients: start an answer (`chat`, `regenerate`), stop it, remove a queued message. `work` processes the
// queue of a thread; run.cpp contains the stages of a run, agent_loop.cpp those of an answer.

#include "features/engine/service.hpp"

#include <algorithm>
#include <utility>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log_ids.hpp"
#include "features/context/service.hpp"
#include "features/engine/chosen_models.hpp"
#include "features/engine/command_expansion.hpp"
#include "features/engine/steering.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

constexpr std::string_view default_agent = "assistant";
constexpr std::chrono::seconds pause_while_disk_is_full(10);

/// The order of a run (see Run). `named` is the model that the message names. The order contains the agent only if it
/// is not the thread's.
json::object order_of(const std::optional<ExpandedCommand>& command, const std::optional<std::string>& named,
                      const Extension& agent, std::string_view threads_agent) {
  json::object order;
  if (agent.id != threads_agent) order["agent_id"] = agent.id;
  const auto& model = !named && command ? command->model : named;
  if (model) order["model"] = *model;
  if (named) order[named_model_member] = *named;
  if (!command) return order;
  order["text"] = command->text;
  if (command->mode) order["mode"] = *command->mode;
  return order;
}

std::optional<std::string> text_in(const std::optional<Turn>& turn, std::string_view name) {
  if (!turn || !turn->metadata) return std::nullopt;
  const auto text = string_member(*turn->metadata, name);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// Whether the turn is the prompt of a job's dry run, or a message meant to join one.
bool is_dry(const Turn& question) {
  if (!question.metadata || !is_true(*question.metadata, "dry")) return false;
  return question.metadata->contains("job") || question.metadata->contains(delivery_member);
}

/// The question with a new text and the rest of its metadata: its files, and whether it is dry.
AddTurn edited(const Turn& question, std::string id, std::string content,
               const std::optional<ExpandedCommand>& command) {
  auto metadata = question.metadata.value_or(json::object{});
  for (const std::string_view member : {"superseded", "run_id", "after_step"}) metadata.erase(member);
  metadata.erase(expanded_member);
  if (command) metadata[expanded_member] = command->text;
  return {.thread_id = question.thread_id,
          .role = Role::user,
          .content = std::move(content),
          .metadata = std::move(metadata),
          .id = std::move(id),
          .replaces = question.id};
}

/// Whether the model would read another text than it did when the question was last asked.
bool reads_otherwise(const Turn& question, const std::optional<ExpandedCommand>& command) {
  return question.content.starts_with('/') &&
         text_in(question, expanded_member) != (command ? std::optional(command->text) : std::nullopt);
}

/// Marks a message that is to join the active answer. If that is a dry run, the message is answered dry even if it
/// arrives too late to join.
void mark_as_steering(json::object& members, const ActiveRun& active) {
  members[delivery_member] = to_text(Delivery::steer);
  if (is_true(active.run.order, "dry")) members["dry"] = true;
}

/// The message as a turn of the run's thread; `steered` is the answer that it is to join, if any.
AddTurn user_turn(const Run& run, ChatMessage message, const std::optional<ExpandedCommand>& command,
                  const std::vector<Attachment>& files, const ActiveRun* steered) {
  auto metadata = std::move(message.metadata);
  const auto members = [&]() -> json::object& { return metadata ? *metadata : metadata.emplace(); };
  if (command) members()[expanded_member] = command->text;
  if (!files.empty()) {
    for (auto& member : attachment_metadata(files)) members().insert(member);
  }
  if (steered) mark_as_steering(members(), *steered);
  return {.thread_id = run.thread_id,
          .role = Role::user,
          .content = std::move(message.content),
          .metadata = std::move(metadata),
          .id = run.turn_id};
}

struct InterruptedCall {
  std::string id;
  PreparedTurn turn;
};

/// For each call of a killed run, the result turn to insert if the call has none.
std::vector<InterruptedCall> interrupted_calls(Threads& threads, const InterruptedRun& left) {
  std::vector<InterruptedCall> calls;
  for (const auto& step : left.steps) {
    for (const auto& entry : step.calls) {
      const auto& call = entry.as_object();
      calls.push_back({std::string(call.at("id").as_string()),
                       threads.prepare({.thread_id = left.run.thread_id,
                                        .role = Role::tool,
                                        .content = "interrupted: the gateway was stopped in the middle of the call",
                                        .metadata = json::object{{"run_id", left.run.id},
                                                                 {"tool_call_id", call.at("id")},
                                                                 {"tool_name", call.at("name")},
                                                                 {"input", call.at("input")},
                                                                 {"is_error", true},
                                                                 {"duration_ms", 0}},
                                        .in_reply_to = left.run.turn_id})});
    }
  }
  return calls;
}

Task<> after_pause(StopSource& stopping, Task<> what) {
  if (co_await pause(stopping, pause_while_disk_is_full) == WaitResult::done) co_await std::move(what);
}

Task<> store_interrupted(Database& database, InterruptedRun left, std::vector<InterruptedCall> calls,
                         PreparedTurn answer, Timestamp now) {
  co_await database.write([left, calls, answer, now](Connection& connection) {
    Runs::end_interrupted(connection, left, now, [&] {
      try {
        const auto answered = Threads::tool_calls_answered(connection, left.run.thread_id, left.run.id);
        for (const auto& call : calls) {
          if (!answered.contains(call.id)) Threads::insert_in(connection, call.turn);
        }
        Threads::insert_in(connection, answer);
      } catch (const NotFound&) {
        return;  // The thread was deleted, so there is nothing to answer.
      }
    });
  });
}

}  // namespace

Engine::Engine(const EngineServices& services)
    : services_(services), limits_(services.models), titles_(services_, stopping_), workers_(services.loop) {
  services_.threads.at_fork([&clock = services_.clock](Connection& connection, const Fork& fork) {
    copy_summary_to_fork(connection, fork, clock.now());
    copy_thoughts_to_fork(connection, fork);
    copy_found_tools_to_fork(connection, fork);
    Attachments::share_pictures(connection, fork.original_id, fork.copy_id);
  });
  services_.threads.at_remove([this](const std::string&) {
    if (!stopping_.requested()) workers_.spawn(services_.attachments.remove_unused());
  });
  workers_.on_failure([](const std::exception_ptr& failure) {
    log::error("background work of chats failed: {}", message_of(failure));
  });
}

Task<Turn> Engine::chat(ChatMessage message, InTransaction<Turn> in_transaction, std::shared_ptr<RunClient> client) {
  const auto command = expand_command(message.content, services_.extensions);
  const auto asked = message.agentId ? services_.extensions.require_enabled_agent(*message.agentId) : nullptr;
  const auto own = asked ? asked : services_.extensions.find_agent(default_agent);
  auto owner = own ? own->id : std::string(default_agent);
  auto threads_agent = owner;
  auto thread_id = new_id();
  if (message.threadId) {
    const auto thread = co_await services_.threads.require(*message.threadId);
    thread_id = thread.id;
    threads_agent = thread.agent_id;
    if (!asked) owner = thread.agent_id;
  }
  const auto agent =
      services_.extensions.require_enabled_agent(command && command->agent_id ? *command->agent_id : owner);
  const auto named = message.model;
  if (command && !message.model) message.model = command->model;
  const auto files = co_await require_files(message, *agent);

  const auto current = services_.runs.front(thread_id);
  const bool steers = current && message.delivery == Delivery::steer;
  auto order = order_of(command, named, *agent, threads_agent);
  if (steers) mark_as_steering(order, *current);
  auto active = open_run(thread_id, new_id(), *agent, std::move(order));
  active->client = std::move(client);
  try {
    const bool is_new = !message.threadId;
    const bool interrupts = current && message.delivery == Delivery::interrupt;
    auto wanted = user_turn(active->run, std::move(message), command, files, steers ? current.get() : nullptr);
    auto record = recording(active, std::move(in_transaction));
    auto inserting = is_new ? services_.threads.begin({.agent_id = owner}, std::move(wanted), std::move(record))
                            : services_.threads.add_turn(std::move(wanted), std::move(record));
    auto turn = co_await std::move(inserting);
    begin(active);
    if (interrupts) end_soon(current);
    co_return turn;
  } catch (...) {
    withdraw(active);
    throw;
  }
}

Task<std::vector<Attachment>> Engine::require_files(const ChatMessage& message, const Extension& agent) {
  auto files = co_await services_.attachments.require(message.attachments.value_or(std::vector<std::string>{}));
  if (message.may_omit_pictures || std::ranges::none_of(files, is_image)) co_return files;
  const auto own = string_member(agent.definition.members(), "model").value_or("");
  const auto resolved = services_.models.resolve(message.model ? std::string_view(*message.model) : own);
  // A model that is not configured is reported by the run.
  const auto* choice = std::get_if<ModelChoice>(&resolved);
  if (choice && !services_.models.info(*choice).vision) throw BadRequest("model does not accept images");
  co_return files;
}

/// The agent that gave the answer; the thread's if that one was deleted or disabled.
std::string Engine::answerer_of(const std::optional<Turn>& answer, const Thread& thread) const {
  const auto answerer = services_.extensions.find(text_in(answer, "agent_id").value_or(""));
  return answerer && answerer->enabled ? answerer->id : thread.agent_id;
}

Task<Turn> Engine::regenerate(std::string turn_id, AnswerAgain wanted, InTransaction<Turn> in_transaction) {
  const auto question = co_await services_.threads.question_of(turn_id);
  if (services_.runs.thread_in_use(question.thread_id)) throw turn_in_use();
  const auto thread = co_await services_.threads.require(question.thread_id);
  const auto command = expand_command(wanted.content.value_or(question.content), services_.extensions);
  // Its turn keeps the text that it was answered for, so another text needs a turn of its own.
  if (!wanted.content && reads_otherwise(question, command)) wanted.content = question.content;
  const auto answer = co_await services_.threads.answer_of(turn_id);
  const auto agent = services_.extensions.require_enabled_agent(
      command && command->agent_id ? *command->agent_id : answerer_of(answer, thread));
  if (services_.runs.thread_in_use(question.thread_id)) throw turn_in_use();
  const auto named = wanted.model ? wanted.model : text_in(answer, named_model_member);
  auto order = order_of(command, named, *agent, thread.agent_id);
  if (is_dry(question)) order["dry"] = true;
  const auto asked_id = wanted.content ? new_id() : question.id;
  auto active = open_run(thread.id, asked_id, *agent, std::move(order));
  try {
    auto record = recording(active, std::move(in_transaction));
    auto asking = wanted.content ? services_.threads.add_turn(edited(question, asked_id, *wanted.content, command),
                                                              std::move(record))
                                 : services_.threads.supersede_after(question.id, std::move(record));
    auto turn = co_await std::move(asking);
    begin(active);
    co_return turn;
  } catch (...) {
    withdraw(active);
    throw;
  }
}

bool Engine::may_write(const ExtensionPointer& agent, const std::optional<std::string>& project_id,
                       const std::filesystem::path& file) const {
  const auto roots = services_.prompts.roots(*agent, project_id);
  RunningAgent caller;
  caller.agent = agent;
  caller.mode = ThreadMode::act;
  caller.limits = agent_limits(*agent, services_.extensions, roots);
  caller.own_file = file.string();
  const ToolTarget target{.place = place_of(file, roots), .path = file.string()};
  return services_.calls.may_call(caller, "Write", target) || services_.calls.may_call(caller, "Edit", target);
}

ActiveRunPointer Engine::open_run(const std::string& thread_id, const std::string& turn_id, const Extension& agent,
                                  json::object order) {
  return services_.runs.open({.id = new_id(),
                              .thread_id = thread_id,
                              .turn_id = turn_id,
                              .assistant_turn_id = new_id(),
                              .agent_id = agent.id,
                              .order = std::move(order)});
}

/// Stores the run in the same transaction as its question, so that every acknowledged question is answered or, after a
/// kill, marked as interrupted.
InTransaction<Turn> Engine::recording(const ActiveRunPointer& active, InTransaction<Turn> in_transaction) const {
  return [run = active->run, now = services_.clock.now(), in_transaction = std::move(in_transaction)](
             Connection& connection, const Turn& turn) {
    AGW_ASSERT(turn.id == run.turn_id);
    AGW_ASSERT(turn.thread_id == run.thread_id);
    Runs::record(connection, run, now);
    if (in_transaction) in_transaction(connection, turn);
  };
}

void Engine::begin(const ActiveRunPointer& active) {
  AGW_ASSERT(thread_.is_current());
  AGW_ASSERT(!active->recorded);
  AGW_ASSERT(!active->started);
  AGW_ASSERT(!active->ended.happened());
  active->recorded = true;
  if (stopping_.requested()) active->stop.request();
  work_on(active->run.thread_id);
}

/// Removes a run that could not be stored. Runs queued after it may have been stored, and wait for it.
void Engine::withdraw(const ActiveRunPointer& active) {
  AGW_ASSERT(!active->started);
  services_.runs.withdraw(active);
  const auto next = services_.runs.front(active->run.thread_id);
  if (next && next->recorded) work_on(active->run.thread_id);
}

void Engine::work_on(const std::string& thread_id) {
  if (working_threads_.insert(thread_id).second) workers_.spawn(work(thread_id));
}

Task<> Engine::work(std::string thread_id) {
  AGW_ASSERT(working_threads_.contains(thread_id));
  for (auto active = services_.runs.front(thread_id); active && active->recorded;
       active = services_.runs.front(thread_id)) {
    co_await wait_for_others(active);
    AGW_ASSERT(active->run.thread_id == thread_id);
    if (std::exchange(active->started, true)) {
      co_await until_ended(active);
      continue;
    }
    if (const auto run_request = run_requests_.of(active->run); run_request && run_request->before_start)
      co_await run_request->before_start(active->stop);
    co_await answer(active);
    // Otherwise it would stay the first of its thread.
    AGW_ASSERT(active->ended.happened());
  }
  working_threads_.erase(thread_id);
}

Task<ChatStopped> Engine::stop_chat(StopChat wanted) {
  const auto thread = co_await services_.threads.require(wanted.threadId);
  const auto active = services_.runs.of_thread(thread.id);
  stop_all(active);
  bool any_stopped = stop_unopened_ && co_await stop_unopened_(thread.id);
  for (const auto& run : active) co_await until_ended(run, OnFullDisk::refuse);
  // A run whose answer was already complete ends normally.
  any_stopped |= std::ranges::any_of(active, [](const auto& run) { return run->has_stopped; });
  co_return ChatStopped{any_stopped ? "stopped" : "idle", thread.id};
}

Task<> Engine::remove_turn(std::string turn_id) {
  for (const auto& active : services_.runs.all()) {
    const auto waits = active->recorded && !active->started && !run_requests_.of(active->run);
    if (!waits || active->run.turn_id != turn_id) continue;
    co_await stop_run(active);
    break;
  }
  co_await services_.threads.remove_turn(std::move(turn_id));
}

Task<> Engine::recover(std::vector<InterruptedRun> interrupted) {
  AGW_ASSERT(working_threads_.empty());
  AGW_ASSERT(services_.runs.running() == 0);
  workers_.spawn(services_.attachments.remove_unused());
  co_await end_interrupted(std::move(interrupted));
}

/// Tries again while the disk is full: somebody may wait for the answer, in a messenger for example.
Task<> Engine::end_interrupted(std::vector<InterruptedRun> interrupted) {
  std::vector<InterruptedRun> postponed;
  for (const auto& left : interrupted) {
    log::warn({.run = left.run.id}, "the run was interrupted; {} bytes of its answer are kept", left.text.size());
    const auto calls = interrupted_calls(services_.threads, left);
    const auto agent = services_.extensions.find(left.run.agent_id);
    const auto model = agent ? choose_models(services_.models, left.run, *agent).model : std::string();
    const auto prepared = services_.threads.prepare({.thread_id = left.run.thread_id,
                                                     .role = Role::assistant,
                                                     .content = left.text,
                                                     .metadata = interrupted_metadata(left, model),
                                                     .id = left.run.assistant_turn_id,
                                                     .in_reply_to = left.run.turn_id});
    try {
      co_await store_interrupted(services_.database, left, calls, prepared, services_.clock.now());
    } catch (const DiskFull&) {
      log::warn({.run = left.run.id}, "the disk is full: the stored part of the answer is kept until there is space");
      postponed.push_back(left);
    }
  }
  if (!postponed.empty() && !stopping_.requested())
    workers_.spawn(after_pause(stopping_, end_interrupted(std::move(postponed))));
}

Task<> Engine::stop() {
  stopping_.request();
  stop_all(services_.runs.all());
  co_await workers_.join();
}

/// Queued runs end concurrently, so that their writes share commits.
void Engine::stop_all(const std::vector<ActiveRunPointer>& runs) {
  for (const auto& run : runs) run->stop.request();
  for (const auto& run : runs) end_soon(run);
}

}  // namespace agw
