// Keeps answers durable while they stream, and ends each exactly once. docs/design/runs.md has an example.
//
// A *run* is one answer to one message. Its *log* (run_log.hpp) is the sequence of its events, numbered from 1 (`seq`).
// A *piece* is the part of the log that one checkpoint adds (table run_pieces). A *step* is a model call with the tool
// calls that it requested (run_steps). The *end* is the event `finish` or `stopped`.
//
// The invariants:
//   - Every event is in the log before it is published, under the `seq` that clients see. So a client that has seen
//     `seq` n continues with the events after n in the log: it misses nothing, and recognises duplicates.
//   - A run ends once. Only the transaction in which `UPDATE runs … WHERE status = 'started'` changes a row may store
//     the assistant's turn and the costs, and only its caller publishes the end. A stop, a failure, the normal end and
//     the recovery after a kill all use this statement, and only the first of them has an effect.
//
// The stages of a run:
//   1. `open`: adds it to the queue of its thread, in memory.
//   2. `record`: inserts its row, in the transaction of its question.
//   3. `text`, `reasoning`, `emit`: log an event, then publish it. Once a second, everything new becomes a piece.
//   4. `store_step`: writes the step and all text before it to disk, before tools change anything.
//   5. `end`: writes row, packed log and turn in one transaction, then publishes the event. The log can be read for ten
//      minutes. If the transaction fails, the event is removed from the log, and the caller tries again.
//
// Pieces whose write failed or may have failed are written again, in order, with the next one (`unsaved`). Their
// numbers make the repetition harmless. So the pieces on disk never have a gap.
//
// After a kill
//   - before 2: the question was not acknowledged.
//   - between 2 and 5: the status is still `started`. The next start joins the pieces into the log, stores their text
//     as the assistant's turn and ends the run as `interrupted`. Clients may have seen about a second more.
//   - inside a tool: its call is on disk without a result; Engine::recover adds one that reports the interruption.
//   - after the transaction of 5: the turn is complete. Clients missed the event and read it from the packed log.

#include "features/runs/service.hpp"

#include <algorithm>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log_ids.hpp"
#include "features/runs/active_text.hpp"
#include "features/runs/store.hpp"
#include "storage/database.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto checkpoint_interval = 1s;
constexpr auto kept_after_end = 10min;
/// Bytes of text. Packing a longer log on the loop would block it.
constexpr std::size_t long_answer = 256 * 1024;
/// Bytes that become a piece even before the next checkpoint, because copying a whole second's text could block the
/// loop.
constexpr std::size_t full_piece = 1024 * 1024;
constexpr std::int64_t events_of_full_piece = 4096;

std::string as_array(const std::vector<std::string>& events) {
  std::string out = "[";
  for (const auto& event : events) {
    if (out.size() > 1) out += ',';
    out += event;
  }
  out += ']';
  return out;
}

/// `finish (<reason>)`, or `stopped`.
std::string ending_text(const Runs::Ending& ending) {
  const auto reason = string_member(ending.members, "finishReason");
  return reason ? ending.type + " (" + std::string(*reason) + ")" : ending.type;
}

void log_end(const Run& run, const Runs::Ending& ending) {
  const log::Ids ids{.run = run.id};
  if (ending.error.empty()) return log::info(ids, "{} on thread {}", ending_text(ending), run.thread_id);
  log::warn(ids, "{} on thread {}: {}", ending_text(ending), run.thread_id, ending.error);
}

std::string ending_reason(const Runs::Ending& ending) {
  return std::string(string_member(ending.members, "finishReason").value_or(ending.type));
}

/// Clients and the database may be behind the log, never ahead of it, and the pieces on disk have no gap.
void assert_invariants(const ActiveRun& active) {
  const auto& log = active.log;
  const auto& unsaved = active.unsaved;
  AGW_ASSERT(active.taken <= log.content().size());
  // The last event of a run that is ending is not published yet.
  AGW_ASSERT(active.taken_seq <= log.seq() - (active.is_ending ? 1 : 0));
  AGW_ASSERT(active.new_bytes <= log.content().size() - active.taken + log.reasoning_content().size());
  // The numbers of unsaved pieces are the last ones that were given out, without a gap.
  AGW_ASSERT(std::cmp_less_equal(unsaved.size(), active.pieces));
  AGW_ASSERT(unsaved.empty() || unsaved.back()->number == active.pieces - 1);
  AGW_ASSERT(unsaved.empty() || std::cmp_equal(unsaved.front()->number + std::ssize(unsaved), active.pieces));
}

/// While the end is being stored, the writer's thread reads the log.
void assert_log_may_change(const ActiveRun& active) {
  AGW_ASSERT(!active.is_ending);
  AGW_DEBUG_ASSERT(!active.ended.happened());
}

}  // namespace

ActiveRun::ActiveRun(Loop& loop, Run what) : run(std::move(what)), log(run), ended(loop) {}

Runs::Runs(Loop& loop, Database& database, Hub& hub, const Clock& clock)
    : loop_(loop), database_(database), hub_(hub), clock_(clock), all_ended_(loop), background_(loop) {
  background_.on_failure(
      [](const std::exception_ptr& failure) { log::error("background work of runs failed: {}", message_of(failure)); });
}

Runs::~Runs() = default;

void Runs::start() { background_.spawn(forget_old()); }

Task<> Runs::stop() {
  stopping_.request();
  co_await background_.join();
}

ActiveRunPointer Runs::open(Run run) {
  AGW_ASSERT(!run.id.empty());
  AGW_ASSERT(!run.thread_id.empty());
  auto active = std::make_shared<ActiveRun>(loop_, std::move(run));
  auto& queue = by_thread_[active->run.thread_id];
  AGW_DEBUG_ASSERT(std::ranges::none_of(queue, [&](const auto& other) { return other->run.id == active->run.id; }));
  queue.push_back(active);
  return active;
}

void Runs::withdraw(const ActiveRunPointer& active) {
  const auto queue = by_thread_.find(active->run.thread_id);
  if (queue == by_thread_.end()) return;
  const auto removed = std::erase(queue->second, active);
  AGW_ASSERT(removed <= 1);
  if (queue->second.empty()) by_thread_.erase(queue);
  active->ended.notify();
  if (active->client) active->client->ended({}, {}, "the run was withdrawn");
  if (by_thread_.empty()) all_ended_.pulse();
}

Task<> Runs::until_none() {
  while (!by_thread_.empty()) co_await all_ended_.wait();
}

void Runs::record(Connection& connection, const Run& run, Timestamp now) { run_store::insert(connection, run, now); }

ActiveRunPointer Runs::front(std::string_view thread_id) const {
  const auto queue = by_thread_.find(thread_id);
  if (queue == by_thread_.end()) return nullptr;
  AGW_ASSERT(!queue->second.empty());
  AGW_DEBUG_ASSERT(queue->second.front()->run.thread_id == thread_id);
  return queue->second.front();
}

std::vector<ActiveRunPointer> Runs::of_thread(std::string_view thread_id) const {
  const auto queue = by_thread_.find(thread_id);
  if (queue == by_thread_.end()) return {};
  return {queue->second.begin(), queue->second.end()};
}

std::vector<ActiveRunPointer> Runs::all() const {
  std::vector<ActiveRunPointer> runs;
  for (const auto& [thread, queue] : by_thread_) runs.insert(runs.end(), queue.begin(), queue.end());
  return runs;
}

Task<bool> Runs::exists(std::string id) {
  co_return co_await database_.read(
      [id = std::move(id)](Connection& connection) { return run_store::find(connection, id).has_value(); });
}

Task<bool> Runs::is_being_answered(std::string turn_id) {
  co_return co_await database_.read([turn_id = std::move(turn_id)](Connection& connection) {
    return run_store::is_being_answered(connection, turn_id);
  });
}

std::size_t Runs::waiting() const {
  std::size_t waiting = 0;
  for (const auto& [thread, queue] : by_thread_) {
    AGW_ASSERT(!queue.empty());
    waiting += queue.size() - 1;
  }
  return waiting;
}

bool Runs::turn_in_use(std::string_view turn_id) const {
  const auto active = all();
  return std::any_of(active.begin(), active.end(), [&](const auto& run) {
    return run->run.turn_id == turn_id || run->run.assistant_turn_id == turn_id || contains(run->turns, turn_id);
  });
}

void Runs::publish(const ActiveRun& active, std::string_view type, std::string text) {
  AGW_DEBUG_ASSERT(text.starts_with('{'));
  AGW_DEBUG_ASSERT(text.ends_with('}'));
  hub_.publish({.type = type, .thread_id = active.run.thread_id, .text = std::move(text)});
}

void Runs::text(ActiveRun& active, std::string_view delta) {
  assert_log_may_change(active);
  if (active.client) active.client->text(delta);
  publish(active, "text-delta", active.log.text(delta));
  logged(active, delta.size());
}

void Runs::reasoning(ActiveRun& active, std::string_view delta) {
  assert_log_may_change(active);
  if (active.client) active.client->reasoning(delta);
  publish(active, "reasoning-delta", active.log.reasoning(delta));
  logged(active, delta.size());
}

void Runs::announce_start(const ActiveRun& active) {
  const auto& run = active.run;
  publish(active, "run-started",
          to_json(json::object{
              {"type", "run-started"},
              {"threadId", run.thread_id},
              {"run", json::object{{"runId", run.id}, {"turnId", run.turn_id}, {"threadId", run.thread_id}}}}));
}

void Runs::emit(ActiveRun& active, std::string_view type, const json::object& members) {
  assert_log_may_change(active);
  publish(active, type, active.log.other(type, members));
  begin_checkpoints();
}

void Runs::logged(ActiveRun& active, std::size_t bytes) {
  active.new_bytes += bytes;
  assert_invariants(active);
  const bool is_full =
      active.new_bytes >= full_piece || published_seq(active) - active.taken_seq >= events_of_full_piece;
  if (is_full && active.started) take_piece(active);
  begin_checkpoints();
}

void Runs::begin_checkpoints() {
  if (checkpointing_ || stopping_.requested()) return;
  checkpointing_ = true;
  background_.spawn(write_checkpoints());
}

void Runs::begin_call(ActiveRun& active, json::object call) {
  AGW_ASSERT(call.contains("toolCallId"));
  AGW_DEBUG_ASSERT(call.contains("toolName"));
  emit(active, "tool-start", call);
  active.tools.emplace_back(std::move(call));
}

void Runs::end_call(ActiveRun& active, const json::object& end) {
  auto& tools = active.tools;
  const auto ended = std::ranges::find_if(
      tools, [&](const json::value& call) { return call.as_object().at("toolCallId") == end.at("toolCallId"); });
  // It has begun, and ends once.
  AGW_ASSERT(ended != tools.end());
  tools.erase(ended);
  emit(active, "tool-end", end);
}

Task<bool> Runs::end(ActiveRunPointer active, Ending ending, AtEnd at_end, std::function<void()> before_event) {
  AGW_ASSERT(!active->is_ending);
  AGW_ASSERT(ending.status == RunStatus::finished || ending.status == RunStatus::stopped);
  AGW_ASSERT((ending.status == RunStatus::stopped) == (ending.type == "stopped"));
  auto event = active->log.other(ending.type, ending.members);
  active->is_ending = true;
  const auto last_seq = active->log.seq();
  bool ended = false;
  try {
    // The log no longer changes once the run is ending, so the writer's thread may read it.
    auto packed = active->log.content().size() < long_answer ? active->log.pack() : std::string();
    ended = co_await database_.write([active, status = ending.status, packed = std::move(packed), now = clock_.now(),
                                      at_end = std::move(at_end)](Connection& connection) {
      const auto late = packed.empty() ? active->log.pack() : std::string();
      if (!run_store::end(connection, active->run.id, status, packed.empty() ? late : packed, now)) return false;
      if (at_end) at_end(connection);
      return true;
    });
  } catch (...) {
    AGW_ASSERT(active->log.seq() == last_seq);
    active->log.take_back_other();
    active->is_ending = false;
    throw;
  }
  AGW_ASSERT(active->is_ending);
  // What was packed is the whole log.
  AGW_ASSERT(active->log.seq() == last_seq);
  if (ended) {
    if (before_event) before_event();
    publish(*active, ending.type, std::move(event));
    active->has_stopped = ending.status == RunStatus::stopped;
    ++ended_[ending_reason(ending)];
    log_end(active->run, ending);
    if (active->client) active->client->ended(ending.type, ending.members, ending.error);
  }
  withdraw(active);
  co_return ended;
}

std::int64_t Runs::published_seq(const ActiveRun& active) {
  AGW_ASSERT(!active.is_ending || active.log.seq() > 0);
  return active.log.seq() - (active.is_ending ? 1 : 0);
}

std::optional<json::value> Runs::active_run(std::string_view thread_id) const {
  const auto active = front(thread_id);
  if (!active) return std::nullopt;
  return json::object{{"runId", active->run.id},
                      {"turnId", active->run.turn_id},
                      {"seq", published_seq(*active)},
                      {"text", active->log.content()},
                      {"tools", active->tools}};
}

json::array Runs::active(const std::set<std::string, std::less<>>* threads) const {
  json::array runs;
  for (const auto& [thread, queue] : by_thread_) {
    if (threads && !threads->contains(thread)) continue;
    const auto& active = *queue.front();
    runs.push_back(json::object{{"runId", active.run.id},
                                {"turnId", active.run.turn_id},
                                {"threadId", thread},
                                {"seq", published_seq(active)},
                                {"text", active.log.content()},
                                {"reasoning", active.log.reasoning_content()},
                                {"tools", active.tools}});
  }
  return runs;
}

std::unique_ptr<LongText> Runs::active_text(const std::set<std::string, std::less<>>* threads) const {
  auto text = std::make_unique<ActiveText>();
  for (const auto& [thread, queue] : by_thread_) {
    if (threads && !threads->contains(thread)) continue;
    const auto& active = queue.front();
    text->add(active, {{"runId", active->run.id},
                       {"turnId", active->run.turn_id},
                       {"threadId", thread},
                       {"seq", published_seq(*active)}});
  }
  return text;
}

Task<std::string> Runs::events(std::string thread_id, EventsQuery query) {
  for (const auto& active : of_thread(thread_id)) {
    if (active->run.id == query.runId)
      co_return as_array(active->log.events_after(query.after, published_seq(*active)));
  }
  const auto oldest = clock_.now() - kept_after_end;
  co_return co_await database_.read([=](Connection& connection) -> std::string {
    const auto packed = run_store::find_log(connection, query.runId, thread_id, oldest);
    const auto run = run_store::find(connection, query.runId);
    if (!run || run->thread_id != thread_id) return "[]";
    if (packed) {
      const auto log = RunLog::unpack(*run, *packed);
      return log ? as_array(log->events_after(query.after)) : "[]";
    }
    // The run is active on another node, whose memory is out of reach: use the pieces that it has stored.
    RunLog log(*run);
    for (const auto& piece : run_store::pieces(connection, query.runId)) log.add_packed(piece.text, piece.events);
    return as_array(log.events_after(query.after));
  });
}

std::vector<InterruptedRun> Runs::interrupted(Connection& connection) { return run_store::unfinished(connection); }

void Runs::end_interrupted(Connection& connection, const InterruptedRun& interrupted, Timestamp now,
                           const std::function<void()>& at_end) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(at_end);
  // The log is stored without a last event: the gateway was killed before it published one.
  RunLog log(interrupted.run);
  for (const auto& piece : interrupted.pieces) log.add_packed(piece.text, piece.events);
  AGW_DEBUG_ASSERT(log.content() == interrupted.text);
  if (run_store::end(connection, interrupted.run.id, RunStatus::interrupted, log.pack(), now)) at_end();
}

/// Stores new text of active runs once a second, as long as there are any.
Task<> Runs::write_checkpoints() {
  AGW_ASSERT(checkpointing_);
  bool failing = false;
  while (co_await pause(stopping_, checkpoint_interval) == WaitResult::done) {
    const bool failed_before = std::exchange(failing, false);
    bool any = false;
    for (const auto& active : all()) {
      if (!active->started) continue;
      any = true;
      try {
        co_await checkpoint(active);
      } catch (const std::exception& error) {
        const bool is_notified = std::exchange(failing, true) || failed_before;
        if (!is_notified) log::warn("cannot store the active answers yet: {}", error.what());
      }
    }
    if (!any) break;
  }
  checkpointing_ = false;
}

void Runs::take_piece(ActiveRun& active) {
  assert_invariants(active);
  const auto& content = active.log.content();
  const auto lasted = asio::steady_timer::clock_type::now() - active.began;
  active.progress["duration_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(lasted).count();
  const auto events = active.log.pack_events(active.taken_seq, published_seq(active));
  active.unsaved.push_back(std::make_shared<const RunPiece>(
      RunPiece{active.pieces++, content.substr(active.taken), events, to_json(active.progress)}));
  active.taken = content.size();
  active.new_bytes = 0;
  active.taken_seq = published_seq(active);
  assert_invariants(active);
}

/// Also writes pieces whose earlier write failed or is still pending, so that the pieces on disk have no gap.
Task<> Runs::store_pieces(ActiveRunPointer active, std::function<void(Connection&)> in_transaction,
                          Database::Lane lane) {
  assert_invariants(*active);
  const auto taken = active->pieces;
  co_await database_.write(
      [id = active->run.id, pieces = active->unsaved,
       in_transaction = std::move(in_transaction)](Connection& connection) {
        for (const auto& piece : pieces) run_store::append_piece(connection, id, *piece);
        if (in_transaction) in_transaction(connection);
      },
      lane);
  std::erase_if(active->unsaved, [taken](const auto& piece) { return piece->number < taken; });
  assert_invariants(*active);
}

Task<> Runs::checkpoint(ActiveRunPointer active) {
  if (active->ended.happened()) co_return;
  if (active->taken_seq != published_seq(*active)) take_piece(*active);
  if (!active->unsaved.empty()) co_await store_pieces(active, {}, Database::Lane::background);
}

Task<> Runs::store_step(ActiveRunPointer active, RunStep step, std::function<void(Connection&)> in_transaction) {
  take_piece(*active);
  co_await store_pieces(
      active,
      [id = active->run.id, step = std::move(step),
       in_transaction = std::move(in_transaction)](Connection& connection) {
        run_store::append_step(connection, id, step);
        if (in_transaction) in_transaction(connection);
      },
      Database::Lane::request);
}

Task<> Runs::steer(ActiveRunPointer into, std::vector<ActiveRunPointer> waiting, std::int64_t after_step,
                   std::function<void(Connection&)> in_transaction) {
  AGW_ASSERT(after_step >= 0);
  for (const auto& run : waiting) {
    AGW_ASSERT(run != into);
    AGW_ASSERT(run->run.thread_id == into->run.thread_id);
    // Without a row, it could not be ended as steered.
    AGW_ASSERT(run->recorded);
    AGW_ASSERT(!run->started);
    AGW_ASSERT(!run->is_ending);
    // Prevents other callers from starting or ending the run during the write.
    run->started = true;
  }
  try {
    co_await database_.write([waiting, now = clock_.now(), in_transaction](Connection& connection) {
      for (const auto& run : waiting) run_store::end_as_steered(connection, run->run.id, now);
      in_transaction(connection);
    });
  } catch (...) {
    for (const auto& run : waiting) run->started = false;
    throw;
  }
  for (const auto& run : waiting) {
    into->turns.push_back(run->run.turn_id);
    emit(*into, "steered", {{"turnId", run->run.turn_id}, {"afterStep", after_step}});
    withdraw(run);
  }
}

Task<> Runs::forget_old() {
  do {
    const auto oldest = clock_.now() - kept_after_end;
    co_await remove_in_batches(
        database_, stopping_, "ended runs stay in the log of runs for some more minutes",
        [oldest](Connection& connection, int limit) { return run_store::forget(connection, oldest, limit); });
  } while (co_await pause(stopping_, kept_after_end) == WaitResult::done);
}

}  // namespace agw
