#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/postgres/address.hpp"
#include "storage/postgres/errors.hpp"
#include "storage/postgres/libpq.hpp"
#include "storage/remote.hpp"

namespace agw::postgres {

class PreparedStatement;

/// One connection to a server, used by one thread at a time. Blocks.
///
/// Keeps the first error of a transaction: PostgreSQL refuses all later statements until a rollback, and the closure
/// may have swallowed the error.
/// Example: src/storage/postgres/session_test.cpp: SessionTest.ValuesRoundTrip
class Session : public RemoteConnection {
public:
  using Clock = std::chrono::steady_clock;
  using Deadline = std::atomic<Clock::time_point>;

  /// A parameter in PostgreSQL's binary format. `type` is the object id of its type, or 0 for the type that the
  /// statement needs.
  struct Parameter {
    Oid type = 0;
    bool is_null = true;
    std::string bytes;
  };

  /// Connects until `deadline`. Once `give_up_at` has passed, all waits for the server end, and the connection counts
  /// as lost. Throws ConnectionLost with libpq's text, StartError if the connection to another host is not encrypted.
  Session(const Address& address, Clock::time_point deadline, const Deadline& give_up_at);
  ~Session() override;

  RemoteStatement& prepare(std::string_view sql) override;
  void execute(const std::string& sql) override;
  int changes() const override { return changes_; }
  bool in_transaction() const override;

  /// Begins a SERIALIZABLE transaction and forgets the failure of the previous one. Throws DatabaseTaken if another
  /// node has claimed this one.
  void begin_write();
  /// Makes each later write check that `gateway_owner` has this id.
  void fence_with(std::string id);
  /// Begins a transaction that reads one snapshot.
  void begin_read();
  /// Commits. If the transaction failed before, rolls back and throws its first failure.
  void commit();
  /// Rolls back an open transaction. The connection may be lost.
  void roll_back() noexcept;

  /// Undoes everything after `SAVEPOINT savepoint`, including a failure.
  void roll_back_to(const std::string& savepoint);

  /// Throws the first failure of the transaction, after which PostgreSQL refuses to continue it.
  void throw_if_aborted() const;
  /// Throws the failure of the transaction if the connection was lost or the transaction can be repeated.
  void throw_if_repeatable() const;
  /// The server's id of the transaction since the latest `begin_write`: an `xid8`.
  const std::string& transaction_id() const { return transaction_id_; }
  /// The server process of this connection.
  int backend_pid() const { return backend_pid_; }

  /// Waits for a notification until `limit` has passed or the eventfd `wake` is readable. Throws ConnectionLost.
  void wait_for_notification(int wake, std::chrono::milliseconds limit);

  /// Runs one statement and returns its result. Throws DatabaseError, whose message contains `during`.
  Result query(const std::string& sql, std::string_view during);

private:
  friend class PreparedStatement;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using FreeList = std::vector<PreparedStatement*>;

  void connect(const Address& address, Clock::time_point deadline);
  void assert_idle() const;
  void require_encryption(const Address& address) const;
  void prepare(const std::string& name, const std::string& sql, std::span<const Oid> types);
  Result run_prepared(const std::string& name, std::span<const Parameter> parameters, std::string_view during);

  /// Waits for all results of the sent statements; returns the last one, or throws the first error.
  Result result_of(bool sent, std::string_view during);
  bool wait_until_ready(short events);
  void check(const PGresult* result, std::string_view during);
  [[noreturn]] void throw_failure() const;
  [[noreturn]] void fail(std::exception_ptr failure);
  [[noreturn]] void lose(std::string_view during);

  const Libpq& pq_ = Libpq::get();
  const Deadline& give_up_at_;
  ConnectionHandle handle_;
  std::string transaction_id_;
  std::string fence_;
  std::exception_ptr failure_;  ///< the first one in this transaction
  bool is_lost_ = false;
  int changes_ = 0;
  int backend_pid_ = 0;
  int prepared_ = 0;
  std::vector<std::unique_ptr<PreparedStatement>> statements_;
  /// Statements not in use, by SQL text.
  std::unordered_map<std::string, FreeList, Hash, std::equal_to<>> free_;
};

}  // namespace agw::postgres
