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

/// Ends waits when the database is closed. Shared by its threads.
class Stop {
public:
  /// From `deadline` on nobody waits for a server.
  void give_up_at(Session::Clock::time_point deadline);
  /// Waits for `duration`, or until the deadline has passed; returns whether it has.
  bool wait(std::chrono::milliseconds duration);
  const Session::Deadline& deadline() const { return deadline_; }

private:
  bool has_passed() const { return Session::Clock::now() >= deadline_.load(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  Session::Deadline deadline_ = Session::Clock::time_point::max();
};

/// A connection that is made anew after it was lost. Used by one thread at a time.
class Link {
public:
  Link(const Address& address, Stop& stop) : address_(address), stop_(stop), lost_at_(Session::Clock::now()) {}

  /// Connects if needed, and tries for up to ten seconds after a loss: a server that restarts is back by then. Throws
  /// DatabaseUnavailable if it is not, or if the database is being closed.
  Connection& connection();
  Session& session();
  /// Connects until `deadline`, and does not try again. Throws ConnectionLost, DatabaseTaken.
  void connect(Session::Clock::time_point deadline);
  /// From now on, each new connection takes the owner's lock.
  void connect_as(Owner owner) { owner_ = std::move(owner); }
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
  Session::Clock::time_point lost_at_;
};

}  // namespace agw::postgres
