#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "storage/connection.hpp"

namespace agw::postgres {

/// A table that both engines have, with the same columns. What is only in one of them serves that engine.
struct CopiedTable {
  struct Column {
    std::string name;
    ValueType type;
  };
  std::string name;
  std::vector<Column> columns;
  std::vector<std::string> key;
};

/// A copy has other rows than its source.
class CopyDiffers : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Copies all records from a database file to a database on a server, or back. Both have all migrations, and nobody
/// else uses them. What was copied before a kill is not copied again: rows come in the order of their keys, and what is
/// there is a beginning of them.
/// Example: src/storage/postgres/record_move_test.cpp: RecordMoveTest.RecordsOfAllRoomsAreTheSameThereAndBack
class RecordCopy {
public:
  /// Called with the table and with how many rows are done, of all that are to be copied and compared.
  using Progress = std::function<void(const std::string& table, std::uint64_t done, std::uint64_t total)>;

  /// Of directories and processes, it copies the records of the node that the server's session is for (agw.node,
  /// agw.files); those of other nodes stay there.
  RecordCopy(Connection& from, Connection& to, Progress progress);

  /// Whether the target has no row of these tables.
  bool is_target_empty();
  void copy();
  /// Reads all rows of both. Throws CopyDiffers, which names the first table whose rows differ. Returns how many
  /// rows there are.
  std::uint64_t compare();
  /// Has new rows numbered on from where the source was.
  void hand_over_numbers();

  const std::vector<CopiedTable>& tables() const { return tables_; }

private:
  struct Contents {
    std::uint64_t rows = 0;
    std::string checksum;
    friend bool operator==(const Contents&, const Contents&) = default;
  };

  void copy(const CopiedTable& table);
  void copy_whole(const CopiedTable& table);
  Contents contents_of(Connection& connection, const CopiedTable& table);
  void count(const std::string& table, std::uint64_t rows);
  Connection& file() { return from_.is_postgres() ? to_ : from_; }

  Connection& from_;
  Connection& to_;
  const Progress progress_;
  const std::vector<CopiedTable> tables_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace agw::postgres
