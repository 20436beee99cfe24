#pragma once

#include <string>

#include "storage/postgres/address.hpp"
#include "storage/postgres/session.hpp"

namespace agw::postgres {

/// Keeps a second gateway from the database: each holds records in memory, and would not see what the other changes.
/// The writer's session holds an advisory lock, which ends with the session. An id in the table `gateway_owner` shows a
/// gateway that lost its session whether another one has used the database since.
/// Example: src/storage/postgres/owner_test.cpp: OwnerTest.ASecondGatewayIsRefused
class Owner {
public:
  /// Takes the lock. A gateway that has just ended may still hold it, so it tries until `deadline`. Throws StartError:
  /// already_running (3) if another gateway has it.
  static void lock(Connection& connection, const Address& address, Session::Clock::time_point deadline);

  /// Enters this gateway in the database, which it has locked and which has its tables.
  explicit Owner(Connection& connection);

  /// Takes the lock with a new session, after the last one was lost; the server is made to end that one. Throws
  /// ConnectionLost while it is not over, DatabaseTaken if another gateway has used the database since.
  void lock_again(Connection& connection);

private:
  void remember_session(Connection& connection);

  std::string id_;
  std::int64_t process_ = 0;  ///< the server's, for our session
  std::string began_at_;      ///< tells it from a later process of the same number
};

}  // namespace agw::postgres
