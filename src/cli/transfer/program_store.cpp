#include "cli/transfer/program_store.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <sqlite3.h>

#include "cli/transfer/source_values.hpp"
#include "io/files/zstd.hpp"
#include "storage/open.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// `file` must not be a symlink, because the log is next to the target. Reading a database in place would create files
/// for its log if it has none. A log contains the newest rows, and a program may still be writing to it.
std::string address_of(const fs::path& file) {
  std::error_code none;
  const auto log = fs::file_size(file.string() + "-wal", none);
  if (!none && log > 0) return file.string();
  return immutable_address(file);
}

json::value text_value(std::string_view text) { return is_utf8(text) ? json::value(text) : json::value(); }

/// Decompresses a text; other bytes are not used here.
json::value value_of_bytes(std::string_view bytes) {
  constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";
  const auto text = bytes.starts_with(zstd_magic) ? zstd_decompressed(bytes, max_piece_bytes) : std::nullopt;
  return text ? text_value(*text) : json::value();
}

json::value value_of(sqlite3_stmt* statement, int column) {
  const auto size = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(statement, column)); };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return text_value({text, size()});
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      return value_of_bytes({bytes, size()});
    }
    default:
      return nullptr;
  }
}

json::object row_of(sqlite3_stmt* statement) {
  json::object row;
  for (int column = 0; column < sqlite3_column_count(statement); ++column) {
    if (auto value = value_of(statement, column); !value.is_null())
      row[sqlite3_column_name(statement, column)] = std::move(value);
  }
  return row;
}

}  // namespace

ProgramStore::ProgramStore(const fs::path& file)
    : connection_(address_of(fs::weakly_canonical(file)), Connection::Access::read_only) {
  sqlite3_limit(connection_.handle(), SQLITE_LIMIT_LENGTH, static_cast<int>(max_piece_bytes));
  // The database's views and triggers are untrusted.
  sqlite3_db_config(connection_.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void ProgramStore::for_each_row(const std::string& table, const std::string& order,
                                const std::function<void(json::object)>& each) {
  run(fmt::format("SELECT * FROM {} ORDER BY {}", table, order), nullptr, each);
}

void ProgramStore::for_each_row(const std::string& table, const std::string& column, const std::string& value,
                                const std::string& order, const std::function<void(json::object)>& each) {
  run(fmt::format("SELECT * FROM {} WHERE {} = ? ORDER BY {}", table, column, order), &value, each);
}

std::uint64_t ProgramStore::count(const std::string& table) {
  std::uint64_t rows = 0;
  run(fmt::format("SELECT count(*) AS rows FROM {}", table), nullptr, [&](const json::object& row) {
    const auto* value = row.if_contains("rows");
    if (value && value->is_int64()) rows = static_cast<std::uint64_t>(value->get_int64());
  });
  return rows;
}

void ProgramStore::run(const std::string& sql, const std::string* value,
                       const std::function<void(json::object)>& each) {
  sqlite3_stmt* prepared = nullptr;
  connection_.check(sqlite3_prepare_v2(connection_.handle(), sql.c_str(), -1, &prepared, nullptr), sql);
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(prepared);
  if (value) {
    connection_.check(sqlite3_bind_text64(prepared, 1, value->data(), value->size(), SQLITE_TRANSIENT, SQLITE_UTF8),
                      sql);
  }
  int code = sqlite3_step(prepared);
  for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) each(row_of(prepared));
  if (code != SQLITE_DONE) connection_.check(code, sql);
}

}  // namespace agw::cli
