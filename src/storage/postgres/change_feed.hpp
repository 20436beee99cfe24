#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/worker_thread.hpp"
#include "storage/changes.hpp"
#include "storage/postgres/address.hpp"
#include "storage/postgres/link.hpp"

namespace agw::postgres {

struct Options;

/// The changes of other nodes: reads new rows of the table `changes`, woken by NOTIFY and at least every second, on its
/// own thread and connection. Also finds the first of the nodes, which does what only one of them may do: its session
/// holds an advisory lock, for which the others wait.
///
/// Renews this node's lease (storage/postgres/lease.hpp), and finds nodes whose lease has expired. Leases of others
/// count only once this node has been connected for as long as a lease is good: after the server was away, all have
/// expired.
/// Example: src/storage/postgres/change_feed_test.cpp: ChangeFeedTest.ANodeHearsWhatAnotherHasChanged
class ChangeFeed {
public:
  struct Start {
    std::int64_t seen = 0;  ///< the latest change that this node's memory contains, see `latest`
    std::string id;         ///< this node's, see Owner::fence
  };
  ChangeFeed(Loop& loop, const Address& address, Stop& stop, Start start, const Options& options);
  /// Ends the thread; nothing is called afterwards.
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  /// The number of the latest change; 0 if there is none. Read it before the records that are held in memory.
  static std::int64_t latest(Connection& connection);

private:
  /// Used by the thread's calls on the loop; it outlives the feed.
  struct Calls;

  void work();
  void read_on();
  void try_to_lead();
  void forget_old();
  void lose();
  void connect();
  void warn(const std::exception& error);
  void renew();
  void look_for_lost_nodes();

  Loop& loop_;
  Stop& stop_;
  std::int64_t seen_;
  const std::string id_;
  const std::string node_;
  std::shared_ptr<Calls> calls_;
  Link link_;
  bool listens_ = false;  ///< with the link's present connection
  bool leads_ = false;
  bool has_led_ = false;          ///< before the connection was lost
  std::chrono::seconds read_at_;  ///< on the clock that goes on while the machine sleeps
  bool has_lost_ = false;
  int connections_ = 0;
  Session::Clock::time_point forgot_at_{};
  Session::Clock::time_point renewed_at_{};
  Session::Clock::time_point connected_at_{};
  std::optional<Session::Clock::time_point> warned_at_;  ///< since it was connected
  std::atomic<bool> is_over_ = false;
  Descriptor wake_;
  std::unique_ptr<WorkerThread> thread_;
};

}  // namespace agw::postgres
