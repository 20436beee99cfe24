// Operations on single threads (create, change, delete), then lists and searches, then forks. Rules that depend on
// records (is the thread in use, does the turn exist?) are checked inside the write. Events are published after the
// write, in commit order.
//
// A fork is planned in a read: the ids of the copies are generated before the write, because the write may be repeated.
// The write copies the turns that still exist.

#include "features/threads/service.hpp"

#include <algorithm>
#include <limits>

#include <boost/algorithm/string.hpp>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/array_text.hpp"
#include "base/json/json_values.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/search_indexer.hpp"
#include "features/threads/thread_store.hpp"
#include "features/threads/turn_store.hpp"
#include "features/threads/types.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

using thread_store::PreparedThread;
using thread_store::TitledBy;

constexpr std::string_view default_agent = "assistant";

/// The mode of the agent's new threads; plan if the agent is null.
ThreadMode mode_of(const ExtensionPointer& agent) {
  return agent ? enum_member(agent->definition.members(), "mode", ThreadMode::plan) : ThreadMode::plan;
}

/// Returns a function that maps the id of a turn in `numbers` (sorted) to the id of its copy in `ids`.
auto copies(Connection& connection, const std::vector<std::int64_t>& numbers, const std::vector<std::string>& ids) {
  AGW_ASSERT(numbers.size() <= ids.size());
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(numbers));
  return [&](const std::string& turn_id) -> std::optional<std::string> {
    const auto turn = turn_store::find(connection, turn_id);
    const auto place = turn ? std::ranges::lower_bound(numbers, turn->number) : numbers.end();
    if (place == numbers.end() || *place != turn->number) return std::nullopt;
    return ids.at(static_cast<std::size_t>(place - numbers.begin()));
  };
}

}  // namespace

Threads::Threads(Loop& loop, Database& database, Hub& hub, const Clock& clock, const Projects& projects,
                 const Runs& runs, const Extensions& extensions)
    : database_(database),
      hub_(hub),
      clock_(clock),
      projects_(projects),
      runs_(runs),
      extensions_(extensions),
      indexer_(std::make_unique<SearchIndexer>(loop, database)) {}

Threads::~Threads() = default;

void Threads::start() { indexer_->start(); }
Task<> Threads::stop() { return indexer_->stop(); }
Task<> Threads::index_all() { return indexer_->catch_up(); }

std::int64_t Threads::next_moment() {
  const auto now = std::chrono::microseconds{clock_.now().time_since_epoch()}.count();
  return last_moment_ = std::max(last_moment_ + 1, now);
}

void Threads::publish(const Thread& thread, std::string name) {
  hub_.publish({.name = std::move(name),
                .type = "thread-updated",
                .thread_id = thread.id,
                .member = "thread",
                .record = thread});
}

std::shared_ptr<PreparedThread> Threads::prepare(NewThread&& wanted, std::string id) {
  if (wanted.project_id && !projects_.find(*wanted.project_id)) throw project_not_found();
  const std::string_view named = wanted.agent_id ? std::string_view(*wanted.agent_id) : default_agent;
  const auto agent = extensions_.find_agent(named);
  const auto titled_by = wanted.title ? TitledBy::person : TitledBy::none;
  Thread thread{.id = std::move(id),
                .agent_id = agent ? agent->id : std::string(named),
                .project_id = std::move(wanted.project_id),
                .job_id = std::move(wanted.job_id),
                .title = wanted.title ? std::move(*wanted.title) : std::string(untitled),
                .mode = wanted.mode ? *wanted.mode : mode_of(agent),
                .created_at = clock_.now()};
  const auto moment = next_moment();
  thread.updated_at = thread_store::time_of(moment);
  return std::make_shared<PreparedThread>(std::move(thread), titled_by, moment);
}

Task<Thread> Threads::create(NewThread wanted, InTransaction<Thread> in_transaction) {
  // Shared, because a write may run again and copies its closure.
  const auto prepared = prepare(std::move(wanted), new_id());
  if (in_transaction) {
    co_await database_.write([prepared, in_transaction](Connection& connection) {
      thread_store::insert(connection, *prepared);
      in_transaction(connection, prepared->thread);
    });
  } else {
    co_await database_.insert<thread_store::insert_all, PreparedThread>(prepared);
  }
  publish(prepared->thread, "thread.created");
  co_return std::move(prepared->thread);
}

Task<Turn> Threads::begin(NewThread wanted, AddTurn first, InTransaction<Turn> in_transaction) {
  const auto thread = prepare(std::move(wanted), first.thread_id);
  const auto turn = std::make_shared<const PreparedTurn>(prepare(std::move(first)));
  AGW_ASSERT(thread->thread.id == turn->turn.thread_id);
  const auto changed = co_await database_.write([thread, turn, in_transaction](Connection& connection) {
    thread_store::insert(connection, *thread);
    auto with_turn = turn_store::insert(connection, *turn);
    AGW_ASSERT(with_turn.id == thread->thread.id);
    AGW_ASSERT(with_turn.turn_count == 1);
    if (in_transaction) in_transaction(connection, turn->turn);
    return with_turn;
  });
  publish(thread->thread, "thread.created");
  announce(turn->turn, changed);
  co_return turn->turn;
}

Task<Thread> Threads::require(std::string id) {
  co_return co_await database_.read(
      [id](Connection& connection) { return thread_store::require(connection, id).thread; });
}

Task<ThreadDetail> Threads::detail(std::string id) {
  auto detail = co_await database_.read([id](Connection& connection) {
    auto stored = thread_store::require(connection, id);
    return ThreadDetail{std::move(stored.thread), nullptr, task_store::list(connection, stored.number)};
  });
  if (auto run = runs_.active_run(id)) detail.active_run = std::move(*run);
  co_return detail;
}

Task<> Threads::set_tasks(std::string thread_id, std::string run_id, std::vector<ThreadTask> tasks) {
  std::string event = "{\"type\":\"tasks-updated\",\"threadId\":";
  write_json(event, std::string_view(thread_id));
  event += ",\"runId\":";
  write_json(event, std::string_view(run_id));
  event += ",\"tasks\":";
  write_json(event, tasks);
  event += '}';
  co_await database_.write([thread_id, tasks = std::move(tasks)](Connection& connection) {
    task_store::put(connection, thread_store::require(connection, thread_id).number, tasks);
  });
  hub_.publish({.type = "tasks-updated", .thread_id = thread_id, .text = std::move(event)});
}

Task<bool> Threads::is_named(std::string id) {
  co_return co_await database_.read(
      [id](Connection& connection) { return thread_store::require(connection, id).titled_by == TitledBy::person; });
}

Task<Thread> Threads::change(std::string id, ThreadChange change) {
  const auto moment = next_moment();
  const auto [thread, changed] = co_await database_.write([id, change, moment](Connection& connection) {
    auto stored = thread_store::require(connection, id);
    const auto before = stored.thread;
    auto& after = stored.thread;
    if (change.title) after.title = *change.title;
    if (change.archived) after.archived = *change.archived;
    if (change.pinned) after.pinned = *change.pinned;
    if (change.mode.given) after.mode = change.mode.value.value_or(ThreadMode::plan);
    const bool same = after.title == before.title && after.archived == before.archived && after.mode == before.mode;
    const auto titled_by = change.title ? std::optional(TitledBy::person) : std::nullopt;
    // Pinning changes the list, not the conversation, so `updated_at` stays.
    const bool announced = !same || after.pinned != before.pinned;
    return std::pair(thread_store::change(connection, stored, titled_by, same ? 0 : moment), announced);
  });
  if (changed) publish(thread);
  co_return thread;
}

Task<> Threads::remove(std::string id) {
  if (runs_.thread_in_use(id)) throw Conflict("thread is in use");
  co_await database_.write([id](Connection& connection) { thread_store::remove(connection, id); });
  indexer_->wake();
  for (const auto& at_remove : at_remove_) at_remove(id);
  hub_.publish({.type = "thread-deleted",
                .thread_id = id,
                .text = to_json(json::object{{"type", "thread-deleted"}, {"threadId", id}})});
}

ThreadFilter Threads::resolved(ThreadFilter filter) const {
  if (filter.agent_id) {
    if (const auto agent = extensions_.find_agent(*filter.agent_id)) {
      filter.agent_id = agent->id;
      filter.agent_name = agent->name;
    }
  }
  if (filter.job_id) {
    if (const auto job = extensions_.find(ExtensionType::job, *filter.job_id)) filter.job_id = job->id;
  }
  return filter;
}

TurnSearch Threads::resolved(TurnSearch wanted) const {
  if (const auto agent = extensions_.find_agent(wanted.agent_id)) {
    wanted.agent_id = agent->id;
    wanted.agent_name = agent->name;
  }
  return wanted;
}

Task<std::vector<Thread>> Threads::list(ThreadFilter filter) {
  co_return co_await database_.read([filter = resolved(std::move(filter))](Connection& connection) {
    std::vector<Thread> threads;
    thread_store::list(connection, filter, [&](const Thread& thread) { threads.push_back(thread); });
    return threads;
  });
}

Task<std::string> Threads::list_text(ThreadFilter filter) {
  co_return co_await database_.read([filter = resolved(std::move(filter))](Connection& connection) {
    ArrayText<Thread> array;
    thread_store::list(connection, filter, std::ref(array));
    return array.close();
  });
}

namespace {

/// The turns of a fork, counted before the write.
struct ForkPlan {
  std::int64_t last;  ///< the number of the last turn
  std::size_t turns;
};

ForkPlan plan_fork(Connection& connection, const std::string& id, const ForkPoint& point) {
  const auto thread = thread_store::require(connection, id).number;
  auto last = std::numeric_limits<std::int64_t>::max();
  if (point.turnId) {
    const auto turn = turn_store::require(connection, *point.turnId);
    if (turn.thread != thread) throw turn_not_found();
    last = turn.number;
  }
  const auto numbers = turn_store::numbers(connection, thread, last);
  return {numbers.empty() ? 0 : numbers.back(), numbers.size()};
}

}  // namespace

Task<Thread> Threads::fork(std::string id, ForkPoint point, InTransaction<Thread> in_transaction) {
  const auto plan =
      co_await database_.read([id, point](Connection& connection) { return plan_fork(connection, id, point); });
  // Until the write, some of these turns may be deleted, but none can be added before the last one.
  std::vector<std::string> ids(plan.turns);
  std::ranges::generate(ids, new_id);
  const auto moment = next_moment();
  const auto now = clock_.now();
  const auto copy =
      co_await database_.write([id, last = plan.last, ids = std::move(ids), copy_id = new_id(), moment, now,
                                in_transaction, at_fork = at_fork_, turn = point.turnId](Connection& connection) {
        auto [original, thread, titled_by] = thread_store::require(connection, id);
        // The turn may have been deleted since the plan was made.
        if (turn) turn_store::require(connection, *turn);
        const auto numbers = turn_store::numbers(connection, original, last);
        AGW_CHECK(numbers.size() <= ids.size(), "turns were added before the last one of the thread " + id);
        thread.id = copy_id;
        // A job finds its thread by this id, so a copy must not have it.
        thread.job_id.reset();
        thread.archived = thread.pinned = false;
        thread.created_at = now;
        thread.updated_at = thread_store::time_of(moment);
        thread.turn_count = static_cast<std::int64_t>(numbers.size());
        const auto number = thread_store::insert(connection, {thread, titled_by, moment});
        AGW_ASSERT(number != original);
        turn_store::copy(connection, numbers, ids, number);
        if (turn)
          turn_store::restore_to_last(connection, number);
        else
          task_store::copy(connection, original, number);
        if (at_fork) at_fork(connection, {id, copy_id, copies(connection, numbers, ids)});
        if (in_transaction) in_transaction(connection, thread);
        return thread;
      });
  indexer_->wake();
  publish(copy, "thread.created");
  co_return copy;
}

Task<> Threads::suggest_title(std::string id, std::string text) {
  boost::trim(text);
  text.resize(std::min(text.find('\n'), text.size()));
  boost::trim_if(text, boost::is_any_of(" \t\r\"'`*#."));
  const auto title = title_from(text);
  if (title.empty()) co_return;
  const auto thread = co_await database_.write(
      [id, title](Connection& connection) { return thread_store::retitle(connection, id, title); });
  if (thread) publish(*thread);
}

}  // namespace agw
