#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/assert.hpp"
#include "base/async/task.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/worker_thread.hpp"
#include "storage/changes.hpp"
#include "storage/postgres/address.hpp"
#include "storage/postgres/link.hpp"

namespace agw::postgres {

struct Options;

/// Reads the changes of other nodes from the table `changes`, on NOTIFY and at least every second, on its own thread
/// and connection. Also elects the leader, the node that does work only one node may do: its session holds an advisory
/// lock for which the others wait.
///
/// Renews this node's lease (storage/postgres/lease.hpp) and finds nodes whose lease has expired. It considers expired
/// leases only after it has been connected for a full lease duration, because after an outage of the server all leases
/// have expired.
/// Example: src/storage/postgres/change_feed_test.cpp: ChangeFeedTest.ANodeIsNotifiedOfChangesOfAnother
class ChangeFeed {
public:
  struct Start {
    std::int64_t seen = 0;  ///< the latest change that this node's memory includes, see `latest`
    std::string id;         ///< the id of this node, see Owner::fence
  };
  ChangeFeed(Loop& loop, const Address& address, Stop& stop, Start start, const Options& options);
  /// Ends the thread; no callback is called afterwards.
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  /// The number of the latest change; 0 if there is none. Call it before reading the records to be held in memory.
  static std::int64_t latest(Connection& connection);

private:
  /// State of the callbacks on the loop; may outlive the feed.
  struct Calls;

  void work();
  void assert_invariants() const;
  void read_on();
  void try_to_lead();
  void forget_old();
  void lose();
  void connect();
  void warn(const std::exception& error);
  void renew();
  void check_for_lost_nodes();

  ThreadChecker checker_;
  Loop& loop_;
  Stop& stop_;
  std::int64_t seen_;
  const std::string id_;
  const std::string node_;
  std::shared_ptr<Calls> calls_;
  Link link_;
  bool listens_ = false;  ///< on the current connection of `link_`
  bool leads_ = false;
  bool has_led_ = false;          ///< this node led before the connection was lost
  std::chrono::seconds read_at_;  ///< on a clock that also advances while the machine sleeps
  bool has_lost_ = false;
  int connections_ = 0;
  Session::Clock::time_point forgot_at_{};
  Session::Clock::time_point renewed_at_{};
  Session::Clock::time_point connected_at_{};
  std::optional<Session::Clock::time_point> warned_at_;  ///< on the current connection
  std::atomic<bool> is_over_ = false;
  Descriptor wake_;
  std::unique_ptr<WorkerThread> thread_;
};

}  // namespace agw::postgres
