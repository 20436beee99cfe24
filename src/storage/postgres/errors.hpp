#pragma once

#include "storage/connection.hpp"

namespace agw::postgres {

/// An error reported by the server.
class ServerError : public DatabaseError {
public:
  using DatabaseError::DatabaseError;
};

/// The transaction conflicted with others and was rolled back; it can be repeated (SQLSTATE 40001, 40P01).
class SerializationFailure : public DatabaseUnavailable {
public:
  explicit SerializationFailure(const std::string& message);
};

/// The connection was lost. The server rolls back everything that was not committed, perhaps only when it notices the
/// loss.
class ConnectionLost : public DatabaseUnavailable {
public:
  explicit ConnectionLost(const std::string& message);
};

/// Another gateway has used the database, so the records that this one holds in memory may be outdated.
class DatabaseTaken : public DatabaseUnavailable {
public:
  DatabaseTaken();
};

/// The server takes no changes: it was set to read-only, or it is a standby.
class ServerReadOnly : public DatabaseUnavailable {
public:
  explicit ServerReadOnly(const std::string& message);
};

/// The server gave up on the statement: a time limit, or not enough memory or connections.
class ServerOverloaded : public DatabaseUnavailable {
public:
  explicit ServerOverloaded(const std::string& message);
};

/// The server's disk is full.
class ServerDiskFull : public DiskFull {
public:
  using DiskFull::DiskFull;
};

}  // namespace agw::postgres
