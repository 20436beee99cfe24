#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

/// The SQL of threads.
namespace agw::thread_store {

/// Who chose a thread's title.
enum class TitledBy { none, gateway, person };
std::string_view to_text(TitledBy titled_by);

/// A thread, with members that only this room uses, such as the number of its row.
struct StoredThread {
  std::int64_t number = 0;
  Thread thread;
  TitledBy titled_by{};
};

/// Converts a result of Threads::next_moment to the time that clients see.
Timestamp time_of(std::int64_t moment);

/// The columns that `read` expects, for statements that return threads.
const std::string& columns();
StoredThread read(const Statement& row);

/// A thread with the values that are generated before its write.
struct PreparedThread {
  Thread thread;
  TitledBy titled_by{};
  std::int64_t moment = 0;  ///< see Threads::next_moment
};

void insert_all(Connection& connection, std::span<const PreparedThread* const> threads);
/// Returns the new row's number.
std::int64_t insert(Connection& connection, const PreparedThread& thread);
std::optional<StoredThread> find(Connection& connection, const std::string& id);
/// Throws NotFound `thread not found`.
StoredThread require(Connection& connection, const std::string& id);
/// Writes title, archived, pinned and mode. Without `titled_by`, the title keeps its author.
Thread change(Connection& connection, const StoredThread& stored, std::optional<TitledBy> titled_by,
              std::int64_t moment);
/// Returns the thread with the new title; no value if a person has named it or it was deleted.
std::optional<Thread> retitle(Connection& connection, const std::string& id, const std::string& title);
/// Removes the thread; its turns stay until they are purged. Throws NotFound.
void remove(Connection& connection, const std::string& id);

/// The values of `agent_id` in the threads of an agent: its id, and its name if threads named the agent before it
/// existed.
std::vector<std::string> agent_ids(Connection& connection, const std::string& id,
                                   const std::optional<std::string>& name);
/// Newest change first. Applies the whole filter, including its limit.
void list(Connection& connection, const ThreadFilter& filter, const std::function<void(const Thread&)>& each);

}  // namespace agw::thread_store

/// The SQL of the lists of tasks.
namespace agw::task_store {

/// No value if the thread never had a list.
std::optional<std::vector<ThreadTask>> list(Connection& connection, std::int64_t thread);
/// Replaces the list.
void put(Connection& connection, std::int64_t thread, const std::vector<ThreadTask>& tasks);
/// Gives `copy` the list of `original`.
void copy(Connection& connection, std::int64_t original, std::int64_t copy);

}  // namespace agw::task_store
