#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "io/process/worker_thread.hpp"
#include "storage/active_reads.hpp"
#include "storage/connection.hpp"

namespace agw {

/// Runs a passive checkpoint: copies pages from the write-ahead log into the database file without blocking readers or
/// writers. Returns whether the file now contains all of the log. Throws DatabaseError.
bool checkpoint(Connection& connection);

/// Also restarts the log although overlapping reads prevent SQLite from doing so: waits until none of this process uses
/// the log, so that the next write starts it from the beginning. Only the writer may call this. Waits for at most 120
/// ms, for at most 30 ms for a read of an old snapshot, and not at all for other programs, such as a backup. Throws
/// DatabaseError.
void restart_log(Connection& connection, const ActiveReads& reads);

/// Runs checkpoints on its own thread and connection, one second after a commit or when the log is long, so that the
/// writer rarely has to. The thread starts with the first commit and sleeps while nothing is written.
class Checkpointer {
public:
  explicit Checkpointer(std::string file) : file_(std::move(file)) {}
  ~Checkpointer() { close(); }
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Reports a commit. Thread-safe.
  void notify_commit();
  /// Starts a checkpoint immediately, because the log is long. Call it after a commit.
  void checkpoint_now();
  /// Whether a checkpoint is running or about to start.
  bool is_copying();
  /// Ends the thread. The rest of the log is checkpointed when the last connection closes.
  void close();

private:
  void start_thread();
  void work();
  bool wait_for_commit();

  const std::string file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool pending_ = false;
  bool urgent_ = false;
  bool copying_ = false;
  bool closing_ = false;
  bool failing_ = false;        ///< used by the thread only: repeated failures are logged once
  bool thread_failed_ = false;  ///< the thread could not be started
  std::optional<WorkerThread> thread_;
};

}  // namespace agw
