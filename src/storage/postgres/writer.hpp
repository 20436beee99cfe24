#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "base/async/assert.hpp"
#include "io/process/worker_thread.hpp"
#include "storage/postgres/link.hpp"
#include "storage/write_queue.hpp"

namespace agw::postgres {

/// The only writing thread, as for SQLite (storage/writer.hpp): takes a group of items, commits once and completes all
/// of them. A group runs again if its transaction conflicts with others or the connection is lost. The thread only runs
/// groups; everything else happens on the loop.
class GroupWriter {
public:
  /// `link` must be connected.
  GroupWriter(Loop& loop, Link link, Stop& stop, std::size_t group_limit);
  ~GroupWriter();
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  void add(std::unique_ptr<WorkItem> item, Database::Lane lane);
  Connection& start_connection();
  /// See Owner::fence.
  std::string fence() const { return link_.fence(); }
  /// Finishes queued items until `deadline`, rejects the rest and ends the thread.
  void close(WriteQueue::Clock::time_point deadline);
  Database::Statistics statistics() const { return {commits_, writes_, queue_->size()}; }

private:
  /// Returns whether to commit the transaction.
  using Work = std::function<bool(Session&, Connection&)>;
  enum class OnFailure { roll_back_group, roll_back_item };

  void work();
  void run_group(const WorkItems& items);
  bool run_together(const WorkItems& items, OnFailure failing);
  bool run_in_savepoint(WorkItem& item, Session& session, Connection& connection);
  void run_alone(WorkItem& item);
  bool transact(const Work& work);
  bool try_to_transact(const Work& work, bool& committed);
  void commit();
  bool was_committed(const std::string& transaction);
  std::string status_of(const std::string& transaction);

  ThreadChecker checker_;
  Loop& loop_;
  Link link_;
  Stop& stop_;
  const std::size_t group_limit_;
  std::shared_ptr<WriteQueue> queue_;
  bool has_begun_ = false;  ///< an item was added, so the link belongs to the thread
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::optional<WorkerThread> thread_;
};

}  // namespace agw::postgres
