#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "io/worker_thread.hpp"
#include "storage/connection.hpp"

namespace agw {

/// Copies what is in the log into the database file. Passively: never waits for a reader or a writer, and nobody waits
/// for it. Returns whether the log is now in the file as a whole. Throws DatabaseError.
bool checkpoint(Connection& connection);

/// Does that on a thread and a connection of its own, a second after a commit or when the log is long, so that little
/// is left to the writer. The thread starts with the first commit and sleeps while nothing is written.
class Checkpointer {
public:
  explicit Checkpointer(std::string file) : file_(std::move(file)) {}
  ~Checkpointer() { close(); }
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// There is something new in the log. From any thread.
  void committed();
  /// The log is long: it is copied now. After a commit.
  void hurry();
  /// Whether it is about to copy the log, or copies it.
  bool is_copying();
  /// Ends the thread; what is left in the log is for the last connection that closes.
  void close();

private:
  void start_thread();
  void work();
  bool wait_for_a_commit();

  const std::string file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool pending_ = false;
  bool hurried_ = false;
  bool copying_ = false;
  bool closing_ = false;
  bool failing_ = false;        ///< only the thread: one line in the log for a series of failures
  bool is_alone_told_ = false;  ///< that no thread could be started
  std::optional<WorkerThread> thread_;
};

}  // namespace agw
