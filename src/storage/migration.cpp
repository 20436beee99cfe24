#include "storage/migration.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/embedded.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "storage/backup.hpp"

namespace agw {

namespace {

int number_of(std::string_view name) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + 4 || number < 1 || name[4] != '_') {
    throw InternalError(fmt::format("a migration is named NNNN_name.sql, not {}", name));
  }
  return number;
}

void apply(Connection& connection, std::span<const Migration> migrations) {
  AGW_ASSERT(!migrations.empty());

  AGW_ASSERT(!connection.in_transaction());
  connection.execute("BEGIN IMMEDIATE");
  for (const auto& migration : migrations) {
    try {
      connection.execute(std::string(migration.sql));
    } catch (const DiskFull&) {
      throw;
    } catch (const DatabaseError& error) {
      throw DatabaseError(error.code(), fmt::format("{}: {}", migration.name, error.what()));
    }
  }
  connection.execute(fmt::format("PRAGMA user_version = {}; COMMIT", migrations.back().number));
}

}  // namespace

std::vector<Migration> embedded_migrations(std::string_view folder) {
  std::vector<Migration> migrations;
  for (const auto& file : embedded_files()) {
    const std::filesystem::path path(file.path);
    if (path.parent_path().filename() != folder) continue;
    const auto name = file.path.substr(file.path.rfind('/') + 1);
    migrations.push_back({number_of(name), name, file.content});
  }
  std::ranges::sort(migrations, {}, &Migration::number);
  const auto twice = std::ranges::adjacent_find(migrations, {}, &Migration::number);
  if (twice != migrations.end()) {
    throw InternalError(fmt::format("{} and {} have the same number", twice->name, std::next(twice)->name));
  }
  return migrations;
}

int schema_version(Connection& connection) {
  auto row = connection.prepare("PRAGMA user_version");
  row.step();
  return static_cast<int>(row.integer(0));
}

void migrate(Connection& connection, std::span<const Migration> migrations, const std::filesystem::path& backups) {
  // The missing ones are the last ones.
  AGW_ASSERT(std::ranges::is_sorted(migrations, {}, &Migration::number));
  const int version = schema_version(connection);
  const auto fresh =
      std::ranges::find_if(migrations, [&](const auto& migration) { return migration.number > version; });
  if (fresh == migrations.end()) return;
  try {
    if (version > 0) back_up(connection, backups, version);
    apply(connection, {fresh, migrations.end()});
    AGW_ASSERT(!connection.in_transaction());
    AGW_CHECK(schema_version(connection) == migrations.back().number,
              "the schema has another number than its newest migration");
  } catch (const DiskFull&) {
    if (connection.in_transaction()) connection.execute("ROLLBACK");
    throw;
  } catch (const std::runtime_error& error) {
    if (connection.in_transaction()) connection.execute("ROLLBACK");
    throw StartError(ExitStatus::failure,
                     fmt::format("cannot bring the database {} up to date: {}. It was left as it is.",
                                 sqlite3_db_filename(connection.handle(), "main"), error.what()));
  }
  if (version > 0) log::info("brought the database from schema {} to {}", version, migrations.back().number);
}

}  // namespace agw
