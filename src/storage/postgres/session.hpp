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
/// The first error of a transaction is kept: PostgreSQL refuses what follows it until the transaction is rolled back,
/// and a closure may have swallowed it.
/// Example: src/storage/postgres/session_test.cpp: SessionTest.ValuesRoundTrip
class Session : public RemoteConnection {
public:
  using Clock = std::chrono::steady_clock;
  using Deadline = std::atomic<Clock::time_point>;

  /// A parameter in PostgreSQL's binary format, whose type has the object id `type` (0: as the statement needs it).
  struct Parameter {
    Oid type = 0;
    bool is_null = true;
    std::string bytes;
  };

  /// Connects until `deadline`. Once `give_up_at` has passed, nobody waits for the server any more, and the connection
  /// counts as lost. Throws ConnectionLost with libpq's text, StartError for a server on another host that is reached
  /// unencrypted.
  Session(const Address& address, Clock::time_point deadline, const Deadline& give_up_at);
  ~Session() override;

  RemoteStatement& prepare(std::string_view sql) override;
  void execute(const std::string& sql) override;
  int changes() const override { return changes_; }
  bool in_transaction() const override;

  /// Begins a SERIALIZABLE transaction, and forgets the failure of the last one. Throws DatabaseTaken if another node
  /// has claimed this one.
  void begin_write();
  /// From now on, each write looks for this id in `gateway_owner`.
  void fence_with(std::string id) { fence_ = std::move(id); }
  /// Begins a transaction that sees one state of the database.
  void begin_read();
  /// Commits. Throws the transaction's first failure if there was one, and rolls back.
  void commit();
  /// Rolls back if a transaction is open. The connection may be lost.
  void roll_back() noexcept;

  /// Undoes what followed `SAVEPOINT savepoint`, a failure included.
  void roll_back_to(const std::string& savepoint);

  /// Throws the failure after which PostgreSQL refuses to continue the transaction, if there was one.
  void throw_if_aborted() const;
  /// Throws the failure of this transaction if it was lost with the connection, or can be run again.
  void throw_if_repeatable() const;
  /// The server's id for the latest `begin_write`: an `xid8`.
  const std::string& transaction_id() const { return transaction_id_; }
  /// The server's process for this connection.
  int backend_pid() const { return backend_pid_; }

  /// Waits for a notification, for at most `limit`, or until `wake` can be read (an eventfd). Throws ConnectionLost.
  void wait_for_notification(int wake, std::chrono::milliseconds limit);

  /// Runs one statement, and returns its result. Throws DatabaseError; `during` names it in the message.
  Result query(const std::string& sql, std::string_view during);

private:
  friend class PreparedStatement;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using FreeList = std::vector<PreparedStatement*>;

  void connect(const Address& address, Clock::time_point deadline);
  void require_encryption(const Address& address) const;
  void prepare(const std::string& name, const std::string& sql, std::span<const Oid> types);
  Result run_prepared(const std::string& name, std::span<const Parameter> parameters, std::string_view during);

  /// Waits for the results of what was sent; returns the last one, or the first error.
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
  std::exception_ptr failure_;  ///< the first of this transaction
  bool is_lost_ = false;
  int changes_ = 0;
  int backend_pid_ = 0;
  int prepared_ = 0;
  std::vector<std::unique_ptr<PreparedStatement>> statements_;
  /// The statements that are not lent out, by SQL text.
  std::unordered_map<std::string, FreeList, Hash, std::equal_to<>> free_;
};

}  // namespace agw::postgres
