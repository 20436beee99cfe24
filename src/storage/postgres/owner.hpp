#pragma once

#include <string>
#include <string_view>

#include "storage/postgres/address.hpp"
#include "storage/postgres/session.hpp"

namespace agw::postgres {

/// Whether nodes of these two releases may share a database: they are of one major version, and one minor version apart
/// at most, so that each knows what the other one writes. A release that is not known counts as near. Example:
/// src/storage/postgres/owner_test.cpp: Releases.AreNearIfOneMinorVersionApart
bool are_near(std::string_view release, std::string_view other);

/// Decides which gateways may use the database at a time: one alone, or nodes with different names. A gateway that is
/// alone holds records in memory, and would not see what others change; nodes follow each other (ChangeFeed).
///
/// The writer's session holds advisory locks, which end with the session: `alone` exclusively or, as a node, shared,
/// and one for the node's name. An id in the table `gateway_owner` shows a gateway that lost its session whether
/// another one has used the database, or its name, since.
/// Example: src/storage/postgres/owner_test.cpp: OwnerTest.ASecondGatewayIsRefused
class Owner {
public:
  /// Takes the locks; `node` is empty for a gateway alone. One that has just ended may still hold them, so it tries
  /// until `deadline`. Throws StartError: already_running (3) if a gateway alone meets another gateway, failure (1) if
  /// a node meets one alone, or one of its name.
  static void lock(Connection& connection, const Address& address, const std::string& node,
                   Session::Clock::time_point deadline);

  /// For a node, before it changes the database: throws StartError (1) if another node is of a release that is not near
  /// this one.
  static void refuse_distant_releases(Connection& connection, const Address& address, const std::string& node);

  /// Enters this gateway in the database, which it has locked and which has its tables.
  Owner(Connection& connection, std::string node, bool shares_files = false);

  /// Takes the locks with a new session, after the last one was lost; the server is made to end that one. Throws
  /// ConnectionLost while it is not over, DatabaseTaken if another gateway has used the database, or this node's name,
  /// since.
  void lock_again(Connection& connection);

  /// The value that each transaction of a node must find in `gateway_owner`; empty for a gateway alone, whose lock
  /// suffices.
  std::string fence() const { return node_.empty() ? std::string() : id_; }

private:
  void remember_session(Connection& connection);

  std::string node_;
  std::string id_;
  std::int64_t process_ = 0;  ///< the server's, for our session
  std::string began_at_;      ///< tells it from a later process of the same number
};

}  // namespace agw::postgres
