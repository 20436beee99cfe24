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

/// Limits how long the threads of a database wait for its server. Shared by all of them.
class Stop {
public:
  /// The gateway stops: from now on, waits for an unreachable server take at most a second.
  void hurry() { is_hurried_ = true; }
  /// How long to try to reach an unreachable server.
  std::chrono::milliseconds patience() const;

  /// Ends all waits for the server at `deadline`.
  void give_up_at(Session::Clock::time_point deadline);
  /// Waits for `duration` or until the deadline; returns whether the deadline has passed.
  bool wait(std::chrono::milliseconds duration);
  const Session::Deadline& deadline() const { return deadline_; }

  /// Reports that the server is reachable, which ends the wait for all threads.
  void reached() { away_since_ = reachable; }
  /// Whether the gateway stops and no thread has reached the server for a second.
  bool has_timed_out() const;
  /// Reports a failed attempt. Returns since when all attempts to connect have failed.
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

/// A connection that reconnects after a loss. Used by one thread at a time.
class Link {
public:
  Link(const Address& address, Stop& stop) : address_(address), stop_(stop) {}

  /// Connects if needed. Retries for up to ten seconds, in which a restarting server is back. Once attempts of any link
  /// have failed for that long, it tries only once; while the gateway stops, not at all. Throws DatabaseUnavailable,
  /// also if the database is being closed.
  Connection& connection();
  Session& session();
  /// Connects until `deadline` without retrying. Throws ConnectionLost, DatabaseTaken.
  void connect(Session::Clock::time_point deadline);
  /// Each later connection takes the owner's lock.
  void connect_as(Owner owner);
  /// See Owner::fence.
  std::string fence() const { return owner_ ? owner_->fence() : std::string(); }
  /// Drops a connection that is lost or in an unknown state.
  void drop();
  bool is_connected() const { return connection_ != nullptr; }
  const Address& address() const { return address_; }

private:
  void connect_again();

  const Address& address_;
  Stop& stop_;
  std::optional<Owner> owner_;
  Session* session_ = nullptr;  ///< owned by `connection_`
  std::unique_ptr<Connection> connection_;
};

}  // namespace agw::postgres
