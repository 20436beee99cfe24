#pragma once

#include "storage/connection.hpp"

namespace agw::postgres {

/// An error that a server reported.
class ServerError : public DatabaseError {
public:
  using DatabaseError::DatabaseError;
};

/// The transaction cannot be put in one order with those of others, and was rolled back: it can be run again
/// (SQLSTATE 40001, 40P01).
class SerializationFailure : public DatabaseUnavailable {
public:
  explicit SerializationFailure(const std::string& message);
};

/// The connection is gone. What was not committed was rolled back, or will be once the server notices.
class ConnectionLost : public DatabaseUnavailable {
public:
  explicit ConnectionLost(const std::string& message);
};

/// Another gateway has used the database; what this one holds in memory may be outdated.
class DatabaseTaken : public DatabaseUnavailable {
public:
  DatabaseTaken();
};

/// The server's disk is full.
class ServerDiskFull : public DiskFull {
public:
  using DiskFull::DiskFull;
};

}  // namespace agw::postgres
