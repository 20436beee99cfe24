#pragma once

#include <string>
#include <string_view>

#include "storage/postgres/address.hpp"
#include "storage/postgres/session.hpp"

namespace agw::postgres {

/// Whether nodes of these two releases may share a database: the same major version, and minor versions that differ by
/// at most one, so that each can read what the other writes. An unknown release counts as near. Example:
/// src/storage/postgres/owner_test.cpp: Releases.AreNearIfOneMinorVersionApart
bool are_near(std::string_view release, std::string_view other);

/// Decides which gateways may use the database at the same time: a single gateway, or nodes with different names. A
/// single gateway holds records in memory and would miss changes by others; nodes follow each other's changes
/// (ChangeFeed).
///
/// The writer's session holds advisory locks, which end with the session: `alone` (exclusive for a single gateway,
/// shared for a node) and one for the node's name. An id in the table `gateway_owner` shows a gateway that lost its
/// session whether another one has used the database, or its name, in the meantime.
/// Example: src/storage/postgres/owner_test.cpp: OwnerTest.ASecondGatewayIsRefused
class Owner {
public:
  /// Takes the locks; `node` is empty for a single gateway. Retries until `deadline`, because a gateway that has just
  /// ended may still hold them. Throws StartError: already_running (3) if a single gateway meets another gateway,
  /// failure (1) if a node meets a single gateway or a node of the same name.
  static void lock(Connection& connection, const Address& address, const std::string& node,
                   Session::Clock::time_point deadline);

  /// For a node, before it changes the database: throws StartError (1) if a release of another node is not near this
  /// one.
  static void refuse_distant_releases(Connection& connection, const Address& address, const std::string& node);

  /// Registers this gateway in the database, which it has locked and whose schema exists.
  Owner(Connection& connection, std::string node, bool shares_files = false);

  /// Takes the locks with a new session after the last one was lost, and has the server end the lost one. Throws
  /// ConnectionLost until that one has ended, DatabaseTaken if another gateway has used the database, or this node's
  /// name, in the meantime.
  void lock_again(Connection& connection);

  /// The id that each transaction of a node must find in `gateway_owner`; empty for a single gateway, whose lock
  /// suffices.
  std::string fence() const { return node_.empty() ? std::string() : id_; }

private:
  void remember_session(Connection& connection);

  std::string node_;
  std::string id_;
  std::int64_t process_ = 0;  ///< the server process of our session
  std::string began_at_;      ///< distinguishes it from a later process with the same number
};

}  // namespace agw::postgres
