#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "storage/connection.hpp"

namespace agw::postgres {

/// A table that both engines have with the same columns. Tables and columns of only one engine are for its internal
/// use.
struct CopiedTable {
  struct Column {
    std::string name;
    ValueType type;
  };
  std::string name;
  std::vector<Column> columns;
  std::vector<std::string> key;
};

/// The rows of a copy differ from those of its source.
class CopyDiffers : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Copies all records from a database file to a database on a server, or back. Both have all migrations, and no other
/// program uses them. A copy that was interrupted continues: rows are copied in the order of their keys, so the rows in
/// the target are the first rows of the source.
/// Example: src/storage/postgres/record_move_test.cpp: RecordMoveTest.RecordsOfAllRoomsAreTheSameThereAndBack
class RecordCopy {
public:
  /// Called with the table and the number of rows done, of all rows to be copied and compared.
  using Progress = std::function<void(const std::string& table, std::uint64_t done, std::uint64_t total)>;

  /// Of directories and processes, copies only the records of the node that the server's session is for (agw.node,
  /// agw.files); those of other nodes stay on the server.
  RecordCopy(Connection& from, Connection& to, Progress progress);

  /// Whether these tables are empty in the target.
  bool is_target_empty();
  void copy();
  /// Compares all rows of both sides and returns their number. Throws CopyDiffers, which names the first table that
  /// differs.
  std::uint64_t compare();
  /// Makes the target continue the source's numbering of new rows.
  void transfer_numbering();

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
