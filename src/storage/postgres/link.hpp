#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "storage/connection.hpp"
#include "storage/postgres/owner.hpp"
#include "storage/postgres/session.hpp"

namespace agw::postgres {

/// How long the threads of a database wait for its server. They share it.
class Stop {
public:
  /// From now on, nobody waits longer than a second for a server that is away: the gateway stops.
  void hurry() { is_hurried_ = true; }
  /// How long to try to reach a server that is away.
  std::chrono::milliseconds patience() const;

  /// From `deadline` on nobody waits for a server.
  void give_up_at(Session::Clock::time_point deadline);
  /// Waits for `duration`, or until the deadline has passed; returns whether it has.
  bool wait(std::chrono::milliseconds duration);
  const Session::Deadline& deadline() const { return deadline_; }

  /// The first to reach the server ends the wait for all.
  void reached() { away_since_ = reachable; }
  /// Whether the gateway stops, and nobody has reached the server for a second.
  bool has_waited_in_vain() const;
  /// Since when no attempt to connect has succeeded.
  Session::Clock::time_point missed();

private:
  bool has_passed() const { return Session::Clock::now() >= deadline_.load(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_hurried_ = false;
  Session::Deadline deadline_ = Session::Clock::time_point::max();
  static constexpr Session::Clock::time_point reachable{};
  std::atomic<Session::Clock::time_point> away_since_ = reachable;
};

/// A connection that is re-established after it was lost. Used by one thread at a time.
class Link {
public:
  Link(const Address& address, Stop& stop) : address_(address), stop_(stop) {}

  /// Connects if needed, and tries for up to ten seconds: a server that restarts is back by then. Once any link has
  /// tried in vain for so long, it tries once; not even that while the gateway stops. Throws DatabaseUnavailable, also
  /// if the database is being closed.
  Connection& connection();
  Session& session();
  /// Connects until `deadline`, and does not try again. Throws ConnectionLost, DatabaseTaken.
  void connect(Session::Clock::time_point deadline);
  /// From now on, each new connection takes the owner's lock.
  void connect_as(Owner owner);
  /// See Owner::fence.
  std::string fence() const { return owner_ ? owner_->fence() : std::string(); }
  /// The connection is gone, or its state is unknown.
  void drop();
  bool is_connected() const { return connection_ != nullptr; }
  const Address& address() const { return address_; }

private:
  void connect_again();

  const Address& address_;
  Stop& stop_;
  std::optional<Owner> owner_;
  Session* session_ = nullptr;  ///< of `connection_`
  std::unique_ptr<Connection> connection_;
};

}  // namespace agw::postgres
