#include "storage/postgres/schema.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "io/files/atomic_file.hpp"

namespace agw::postgres {

namespace {

constexpr int oldest_version = 150000;

[[noreturn]] void refuse(const Address& address, std::string_view why) {
  throw StartError(ExitStatus::failure, fmt::format("the {} (cluster.database) {}", address.name, why));
}

struct Facts {
  std::int64_t version;
  bool is_utf8;
  bool compares_bytes;
  bool is_replica;
  bool is_read_only;
  bool syncs;
  bool has_schema;
  bool may_create;
  bool has_migrations;
  bool has_tables;
  std::string role;
  std::string schema;
};

Facts facts_of(Connection& connection) {
  auto row = connection.prepare(
      "SELECT CAST(current_setting('server_version_num') AS bigint), pg_encoding_to_char(encoding) = 'UTF8', "
      "datlocprovider = 'c' AND datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8'), pg_is_in_recovery(), "
      "current_setting('default_transaction_read_only') = 'on', current_setting('fsync') = 'on', "
      "current_schema() IS NOT NULL, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), "
      "to_regclass('schema_migrations') IS NOT NULL, "
      "EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema()), current_user, current_schema() "
      "FROM pg_database WHERE datname = current_database()");
  row.step();
  return {.version = row.integer(0),
          .is_utf8 = row.boolean(1),
          .compares_bytes = row.boolean(2),
          .is_replica = row.boolean(3),
          .is_read_only = row.boolean(4),
          .syncs = row.boolean(5),
          .has_schema = row.boolean(6),
          .may_create = row.boolean(7),
          .has_migrations = row.boolean(8),
          .has_tables = row.boolean(9),
          .role = row.string(10),
          .schema = row.string(11)};
}

void check(const Facts& facts, const Address& address) {
  constexpr auto remedy = "Create it with: CREATE DATABASE agw TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'";
  if (facts.version < oldest_version)
    refuse(address,
           fmt::format("is on PostgreSQL {}, which is too old: it must be 15 or newer", facts.version / 10000));
  if (facts.is_replica)
    refuse(address, "is a replica, which only the primary server may write: name the primary server instead");
  if (facts.is_read_only)
    refuse(address,
           fmt::format("is read-only (default_transaction_read_only): set it to off for the role {}", facts.role));
  if (!facts.is_utf8) refuse(address, fmt::format("does not store text as UTF-8. {}", remedy));
  if (!facts.compares_bytes) refuse(address, fmt::format("does not compare text byte by byte. {}", remedy));
  if (!facts.has_schema)
    refuse(address, fmt::format("has no schema that the role {} may use: create one, or set search_path", facts.role));
  if (!facts.has_migrations && facts.has_tables)
    refuse(address, "is not a gateway's: it holds tables of another program. Name an empty one");
  if (!facts.has_migrations && !facts.may_create)
    refuse(address, fmt::format("does not let the role {} create tables. Allow it: GRANT CREATE ON SCHEMA {} TO {}",
                                facts.role, facts.schema, facts.role));
  if (!facts.syncs)
    log::warn("the {} is on a server with fsync off: if its machine fails, what was acknowledged may be lost",
              address.name);
}

std::set<std::int64_t> applied_migrations(Connection& connection) {
  std::set<std::int64_t> numbers;
  auto row = connection.prepare("SELECT number FROM schema_migrations");
  while (row.step()) numbers.insert(row.integer(0));
  return numbers;
}

void apply(Connection& connection, const Migration& migration) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(migration.number > 0);
  connection.execute(std::string(migration.sql));
  connection.prepare("INSERT INTO schema_migrations (number, name) VALUES (:number, :name)")
      .bind(":number", migration.number)
      .bind(":name", migration.name)
      .run();
  AGW_DEBUG_ASSERT(connection.changes() == 1);
}

void refuse_newer(const std::set<std::int64_t>& applied, const Address& address,
                  std::span<const Migration> migrations) {
  const int latest = migrations.empty() ? 0 : migrations.back().number;
  if (applied.empty() || *applied.rbegin() <= latest) return;
  refuse(address, fmt::format("was written by a newer agw (schema {}, this one knows {}): install that one",
                              *applied.rbegin(), latest));
}

/// Returns the number of applied migrations.
std::size_t apply_missing(Connection& connection, const Address& address, std::span<const Migration> migrations) {
  connection.execute("CREATE TABLE IF NOT EXISTS schema_migrations (number bigint PRIMARY KEY, name text NOT NULL)");
  connection.execute("CREATE TABLE IF NOT EXISTS gateway_owner (id text NOT NULL)");
  connection.execute("ALTER TABLE gateway_owner ADD COLUMN IF NOT EXISTS node text NOT NULL DEFAULT ''");
  connection.execute("ALTER TABLE gateway_owner ADD COLUMN IF NOT EXISTS lease_until timestamptz");
  connection.execute("ALTER TABLE gateway_owner ADD COLUMN IF NOT EXISTS version text NOT NULL DEFAULT ''");
  connection.execute("ALTER TABLE gateway_owner ADD COLUMN IF NOT EXISTS seen bigint NOT NULL DEFAULT 0");
  connection.execute("ALTER TABLE gateway_owner ADD COLUMN IF NOT EXISTS shares_files boolean NOT NULL DEFAULT false");
  connection.execute("ALTER TABLE gateway_owner ADD COLUMN IF NOT EXISTS ahead double precision NOT NULL DEFAULT 0");
  connection.execute("CREATE TABLE IF NOT EXISTS cluster (id text NOT NULL)");
  connection.prepare("INSERT INTO cluster (id) SELECT :id WHERE NOT EXISTS (SELECT FROM cluster)")
      .bind(":id", random_hex(16))
      .run();
  const auto applied = applied_migrations(connection);
  refuse_newer(applied, address, migrations);
  std::size_t missing = 0;
  for (const auto& migration : migrations) {
    if (applied.contains(migration.number)) continue;
    apply(connection, migration);
    ++missing;
  }

  return missing;
}

}  // namespace

void prepare_database(Connection& connection, const Address& address, std::span<const Migration> migrations) {
  // The last one counts as the latest.
  AGW_ASSERT(std::ranges::is_sorted(migrations, {}, &Migration::number));
  check(facts_of(connection), address);
  connection.execute("BEGIN");
  connection.execute("SET LOCAL client_min_messages = warning");
  // Serialises nodes that start at the same time.
  connection.execute("SET LOCAL lock_timeout = 4000");
  connection.execute("SELECT pg_advisory_xact_lock(7423, hashtext(coalesce(current_schema(), '')))");
  const auto missing = apply_missing(connection, address, migrations);
  connection.execute("COMMIT");
  if (missing > 0) log::info("brought the {} to schema {}", address.name, migrations.back().number);
}

void join_cluster(Connection& connection, const Address& address, const std::filesystem::path& file) {
  auto row = connection.prepare("SELECT id FROM cluster");
  row.step();
  const auto id = row.string(0);
  std::string known;
  std::ifstream(file) >> known;
  if (known.empty()) return replace_file(file, id + "\n", 0600);
  if (known == id) return;
  refuse(address,
         fmt::format("belongs to another cluster than this data directory: name the database of its cluster, or "
                     "start with an empty data directory ({} says where this one belongs)",
                     file.string()));
}

void check_database(Connection& connection, const Address& address, std::span<const Migration> migrations) {
  const auto facts = facts_of(connection);
  check(facts, address);
  if (facts.has_migrations) refuse_newer(applied_migrations(connection), address, migrations);
}

}  // namespace agw::postgres
