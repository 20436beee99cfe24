#include "storage/integrity.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/connection.hpp"
#include "storage/migration.hpp"

namespace agw {

namespace {

std::optional<std::string> problem_of(Connection& connection) {
  auto row = connection.prepare("PRAGMA integrity_check(1)");
  if (row.step() && row.text(0) != "ok") return fmt::format("is damaged: {}", row.text(0));
  const auto latest = embedded_migrations().back().number;
  const auto version = schema_version(connection);
  if (version > latest)
    return fmt::format("was written by a newer agw (schema {}, this one knows {})", version, latest);
  if (version == 0) return std::string("is not a gateway's");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> database_problem(const std::filesystem::path& file) {
  AGW_ASSERT(may_block());

  std::optional<std::string> problem;
  try {
    Connection connection(file.string(), Connection::Access::read_only);
    problem = problem_of(connection);
  } catch (const DatabaseError& error) {
    problem = fmt::format("cannot be read: {}", error.what());
  }
  if (problem) problem = fmt::format("{} {}", file.string(), *problem);
  return problem;
}

}  // namespace agw
