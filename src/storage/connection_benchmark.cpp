#include "storage/connection.hpp"

#include <sqlite3.h>

#include <benchmark/benchmark.h>

#include "storage/backup.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

/// An open transaction on an empty table, so that neither the disk nor commits are measured.
class Table {
public:
  Table() { connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT) STRICT; BEGIN"); }
  ~Table() { connection.execute("ROLLBACK"); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

private:
  static std::string new_file(const std::filesystem::path& path) {
    make_private_file(path);
    return path.string();
  }
  testing::ScratchDirectory directory_;

public:
  Connection connection{new_file(directory_.path() / "benchmark.db"), Connection::Access::read_write};
};

void insert(benchmark::State& state) {
  Table table;
  std::int64_t number = 0;
  for (auto _ : state) {
    table.connection.prepare("INSERT INTO rows (number, text) VALUES (:number, :text)")
        .bind(":number", ++number)
        .bind(":text", "a text of a few words")
        .run();
  }
}
BENCHMARK(insert)->Name("Connection.Insert");

/// SQLite itself, with a statement that is prepared once.
void insert_bare(benchmark::State& state) {
  Table table;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(table.connection.handle(), "INSERT INTO rows (number, text) VALUES (?1, ?2)", -1, &statement,
                     nullptr);
  std::int64_t number = 0;
  for (auto _ : state) {
    sqlite3_bind_int64(statement, 1, ++number);
    sqlite3_bind_text(statement, 2, "a text of a few words", -1, SQLITE_STATIC);
    sqlite3_step(statement);
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
}
BENCHMARK(insert_bare)->Name("Connection.Insert/floor");

}  // namespace
}  // namespace agw
