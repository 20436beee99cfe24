#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time/time.hpp"
#include "features/checkpoints/types.hpp"
#include "io/files/entry_state.hpp"
#include "storage/connection.hpp"

namespace agw {

/// A directory entry as it is stored: with the hash of its content instead of the content.
struct StoredState {
  EntryKind kind = EntryKind::absent;
  /// The hash of the content of a file or symlink, if known. If the path did not exist until the run moved an entry to
  /// it: the hash of that entry's content before the run.
  std::optional<std::string> hash{};
  mode_t mode = 0;
  std::int64_t modified_ns = 0;
  std::int64_t accessed_ns = 0;

  /// Whether both have the same kind and content. Unknown contents differ from each other, too.
  bool is_same(const StoredState& other) const {
    return kind == other.kind && (!has_content() || (hash && hash == other.hash));
  }
  bool has_content() const { return kind == EntryKind::file || kind == EntryKind::symlink; }
};

/// A row of `file_changes`.
struct StoredChange {
  enum class Kind { write, undo, redo };

  std::int64_t number = 0;  ///< assigned by the store
  std::string run_id;
  std::string thread_id;
  std::string root;
  std::string path;
  Kind kind = Kind::write;
  StoredState before;
  StoredState after;
  Timestamp created_at{};
  std::optional<std::int64_t> undone_by;
  bool settled = true;
};

namespace checkpoint_store {

/// Returns the row's number.
std::int64_t insert(Connection& connection, const StoredChange& change);
void insert_uncovered(Connection& connection, const std::string& run_id, const UncoveredChange& uncovered,
                      Timestamp now);
/// Records the tree as uncovered until `end_command`, in case the gateway is killed before. Keeps an existing record.
void begin_command(Connection& connection, const std::string& run_id, const std::string& tree, Timestamp now);
void end_command(Connection& connection, const std::string& run_id);

/// Adds the connections to the run's earlier ones.
void add_host(Connection& connection, const std::string& run_id, const ContactedHost& host, Timestamp now);
std::vector<ContactedHost> hosts_of(Connection& connection, const std::string& run_id);

/// The changes of the run, in the order in which they were made.
std::vector<StoredChange> of_run(Connection& connection, const std::string& run_id);
/// The undos and redos that a kill may have interrupted.
std::vector<StoredChange> unsettled(Connection& connection);
std::vector<UncoveredChange> uncovered_of(Connection& connection, const std::string& run_id);
/// The runs of a thread that changed files after that time, the newest first.
std::vector<std::string> runs_after(Connection& connection, const std::string& thread_id, Timestamp time);
/// The changes by other runs at the path after the change `number`, in order.
std::vector<StoredChange> of_other_runs(Connection& connection, const StoredChange& change, std::int64_t number);
/// The state of the path before the run; no value if the run has not changed it.
std::optional<StoredState> before_run(Connection& connection, const std::string& run_id, const std::string& path);
std::int64_t last_number(Connection& connection);

/// Inserts an undo or redo before it is carried out, and marks the changes with the numbers `undone` as undone by it.
/// Returns its number.
std::int64_t insert_undo(Connection& connection, const StoredChange& change, const std::vector<std::int64_t>& undone);
/// Reverts `insert_undo` for an undo that was not carried out.
void withdraw(Connection& connection, std::int64_t number);
/// Marks an undo or redo as carried out. After a redo, the changes of the run count as not undone.
void settle(Connection& connection, const StoredChange& change);

/// Deletes up to `limit` rows older than `oldest`, of all tables together. Returns how many it deleted.
int forget(Connection& connection, Timestamp oldest, int limit);

}  // namespace checkpoint_store

}  // namespace agw
