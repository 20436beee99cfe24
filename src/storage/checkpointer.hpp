#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "io/process/worker_thread.hpp"
#include "storage/connection.hpp"

namespace agw {

/// Runs a passive checkpoint: copies pages from the write-ahead log into the database file without blocking readers or
/// writers. Returns whether all of the log is now in the file. Throws DatabaseError.
bool checkpoint(Connection& connection);

/// The same for the writer, with a log that others read without a break, each from where it was: waits for them for a
/// moment, in which nothing is added, so that the next write begins the log anew. It does not wait if somebody reads an
/// old state, as a backup does. Throws DatabaseError.
void restart_log(Connection& connection);

/// Makes checkpoints on its own thread and connection, a second after a commit or when the log is long, so that the
/// writer rarely has to. The thread starts with the first commit and sleeps while nothing is written.
class Checkpointer {
public:
  explicit Checkpointer(std::string file) : file_(std::move(file)) {}
  ~Checkpointer() { close(); }
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Reports a commit. From any thread.
  void notify_commit();
  /// Checkpoints now, because the log is long. Call it after a commit.
  void checkpoint_now();
  /// Whether a checkpoint is running or about to run.
  bool is_copying();
  /// Ends the thread. The last connection that closes checkpoints what is left in the log.
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
  bool failing_ = false;        ///< used by the thread only: a series of failures is logged once
  bool thread_failed_ = false;  ///< no thread could be started
  std::optional<WorkerThread> thread_;
};

}  // namespace agw
