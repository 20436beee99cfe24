#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/backup.hpp"
#include "storage/connection.hpp"
#include "storage/migration.hpp"
#include "storage/open.hpp"

namespace agw {

namespace {

constexpr int pauses_per_work = 4;

/// Checks each table in its own transaction: a single one would let the write-ahead log grow.
std::optional<DatabaseProblem> quick_check(Connection& connection, FileUse use) {
  std::vector<std::string> names;
  auto tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0");
  while (tables.step()) names.push_back(tables.string(0));
  for (const auto& name : names) {
    const auto began = std::chrono::steady_clock::now();
    auto row = connection.prepare(fmt::format("PRAGMA quick_check(\"{}\")", name));
    if (row.step() && row.text(0) != "ok") return DatabaseProblem{fmt::format("is damaged: {}: {}", name, row.text(0))};
    if (use == FileUse::shared)
      std::this_thread::sleep_for(pauses_per_work * (std::chrono::steady_clock::now() - began));
  }
  return std::nullopt;
}

std::optional<DatabaseProblem> version_problem(Connection& connection) {
  const auto latest = embedded_migrations().back().number;
  const auto version = schema_version(connection);
  if (version > latest) {
    return DatabaseProblem{
        .what = fmt::format("was written by a newer agw (schema {}, this one knows {})", version, latest),
        .is_schema_newer = true};
  }
  if (version == 0) return DatabaseProblem{"is not a gateway's"};
  return std::nullopt;
}

std::optional<DatabaseProblem> full_check(Connection& connection) {
  auto row = connection.prepare("PRAGMA integrity_check(1)");
  if (row.step() && row.text(0) != "ok") return DatabaseProblem{fmt::format("is damaged: {}", row.text(0))};
  return version_problem(connection);
}

template <typename Check>
std::optional<DatabaseProblem> problem_found_by(Check check, const std::string& address) {
  AGW_DEBUG_ASSERT(may_block());

  try {
    Connection connection(address, Connection::Access::read_only);
    return check(connection);
  } catch (const DatabaseError& error) {
    return DatabaseProblem{fmt::format("cannot be read: {}", error.what())};
  }
}

}  // namespace

std::optional<DatabaseProblem> database_problem(const std::filesystem::path& file) {
  return problem_found_by(full_check, file.string());
}

std::optional<DatabaseProblem> quick_database_problem(const std::filesystem::path& file, FileUse use) {
  return problem_found_by([use](Connection& connection) { return quick_check(connection, use); },
                          use == FileUse::shared ? file.string() : immutable_address(file));
}

}  // namespace agw
