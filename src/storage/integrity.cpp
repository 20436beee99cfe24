#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/backup.hpp"
#include "storage/connection.hpp"
#include "storage/migration.hpp"

namespace agw {

namespace {

constexpr int rests_per_work = 4;

/// Checks each table in its own transaction: a single one would let the write-ahead log grow.
std::optional<std::string> quick_check(Connection& connection) {
  std::vector<std::string> names;
  auto tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0");
  while (tables.step()) names.push_back(tables.string(0));
  for (const auto& name : names) {
    const auto began = std::chrono::steady_clock::now();
    auto row = connection.prepare(fmt::format("PRAGMA quick_check(\"{}\")", name));
    if (row.step() && row.text(0) != "ok") return fmt::format("is damaged: {}: {}", name, row.text(0));
    std::this_thread::sleep_for(rests_per_work * (std::chrono::steady_clock::now() - began));
  }
  return std::nullopt;
}

std::optional<std::string> version_problem(Connection& connection) {
  const auto latest = embedded_migrations().back().number;
  const auto version = schema_version(connection);
  if (version > latest)
    return fmt::format("was written by a newer agw (schema {}, this one knows {})", version, latest);
  if (version == 0) return std::string("is not a gateway's");
  return std::nullopt;
}

std::optional<std::string> full_check(Connection& connection) {
  auto row = connection.prepare("PRAGMA integrity_check(1)");
  if (row.step() && row.text(0) != "ok") return fmt::format("is damaged: {}", row.text(0));
  return version_problem(connection);
}

template <class Check>
std::optional<std::string> problem_found_by(Check check, const std::filesystem::path& file) {
  AGW_DEBUG_ASSERT(may_block());

  std::optional<std::string> problem;
  try {
    Connection connection(file.string(), Connection::Access::read_only);
    problem = check(connection);
  } catch (const DatabaseError& error) {
    problem = fmt::format("cannot be read: {}", error.what());
  }
  if (problem) problem = fmt::format("{} {}", file.string(), *problem);
  return problem;
}

}  // namespace

std::optional<std::string> database_problem(const std::filesystem::path& file) {
  return problem_found_by(full_check, file);
}

std::optional<std::string> quick_database_problem(const std::filesystem::path& file) {
  return problem_found_by(quick_check, file);
}

}  // namespace agw
