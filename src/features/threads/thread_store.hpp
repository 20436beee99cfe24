#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

/// The SQL of threads.
namespace agw::thread_store {

/// Whose a thread's title is.
enum class TitledBy { nobody, gateway, person };
std::string_view to_text(TitledBy titled_by);

/// A thread and what is known of it only in this room, such as its row's number.
struct StoredThread {
  std::int64_t number = 0;
  Thread thread;
  TitledBy titled_by{};
};

/// What clients see of a moment of Threads.
Timestamp time_of(std::int64_t moment);

/// The columns that `read` takes, for statements that give threads.
inline constexpr std::string_view columns =
    "threads.number, threads.id, agent_id, project_id, job_id, title, archived, mode, threads.created_at, updated, "
    "turn_count, titled_by";
StoredThread read(const Statement& row);

/// A thread with all that is made before its write.
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
/// Writes title, archived and mode. `titled_by` nothing: whose the title is stays.
Thread change(Connection& connection, const StoredThread& stored, std::optional<TitledBy> titled_by,
              std::int64_t moment);
/// The thread with the new title; nothing where a person has named it or it is gone.
std::optional<Thread> retitle(Connection& connection, const std::string& id, const std::string& title);
/// Takes the thread away from everybody; its turns stay to be purged. Throws NotFound.
void remove(Connection& connection, const std::string& id);

/// Newest change first. The filter's limit and all else in it apply.
void list(Connection& connection, const ThreadFilter& filter, const std::function<void(const Thread&)>& each);

}  // namespace agw::thread_store
