#include "storage/postgres/record_move.hpp"

#include <functional>
#include <optional>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/time/time.hpp"
#include "storage/migration.hpp"
#include "storage/open.hpp"
#include "storage/postgres/errors.hpp"
#include "storage/postgres/link.hpp"
#include "storage/postgres/owner.hpp"
#include "storage/postgres/schema.hpp"

namespace agw::postgres {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto time_to_open = 20s;
/// The server keeps the locks of a connection until it notices that the program has ended.
constexpr auto time_to_unlock = 3s;

[[noreturn]] void refuse(const std::string& why) { throw StartError(ExitStatus::failure, why); }

/// The server's database, locked for exclusive use.
class Server {
public:
  explicit Server(const RecordMove& move) : address_(read_address(move.url)), link_(address_, stop_) {
    const auto deadline = Session::Clock::now() + time_to_open;
    try {
      link_.connect(deadline);
    } catch (const ConnectionLost& error) {
      refuse(fmt::format("cannot reach the {} (cluster.database): {}", name(), error.what()));
    }
    try {
      Owner::lock(connection(), address_, "", Session::Clock::now() + time_to_unlock);
    } catch (const StartError&) {
      refuse(fmt::format("the {} (cluster.database) is used by a gateway: stop all that use it", name()));
    }
    connection().prepare("SELECT set_config('agw.node', CAST(:node AS text), false)").bind(":node", move.node).step();
    if (move.shares_files) connection().prepare("SELECT set_config('agw.files', 'shared', false)").step();
  }

  Connection& connection() { return link_.connection(); }
  const Address& address() const { return address_; }
  const std::string& name() const { return address_.name; }

  bool has(std::string_view table) {
    auto row = connection().prepare("SELECT to_regclass(:table) IS NOT NULL");
    return row.bind(":table", std::string(table)).step() && row.boolean(0);
  }

private:
  const Address address_;
  Stop stop_;
  Link link_;
};

/// Identifies the file that a database on a server was filled from. Different paths of the same file are equal.
std::string identity_of(const fs::path& file) { return fs::weakly_canonical(file).string(); }

struct Origin {
  std::string file;
  bool is_complete = false;
};

std::optional<Origin> origin_of(Connection& connection) {
  auto row = connection.prepare("SELECT file, is_complete FROM record_move");
  return row.step() ? std::optional(Origin{row.string(0), row.boolean(1)}) : std::nullopt;
}

void begin(Server& server, const RecordMove& move, RecordCopy& copy) {
  if (server.has("record_move")) {
    const auto origin = origin_of(server.connection());
    if (origin && origin->file == identity_of(move.file)) return;
    refuse(fmt::format("the {} (cluster.database) was filled from {}: name an empty database", server.name(),
                       origin ? origin->file : "another file"));
  }
  if (!copy.is_target_empty()) {
    refuse(fmt::format("the {} (cluster.database) holds records of a gateway already: name an empty database",
                       server.name()));
  }
  server.connection().execute("BEGIN");
  server.connection().execute("CREATE TABLE record_move (file text NOT NULL, is_complete boolean NOT NULL)");
  server.connection()
      .prepare("INSERT INTO record_move (file, is_complete) VALUES (:file, false)")
      .bind(":file", identity_of(move.file))
      .run();
  server.connection().execute("COMMIT");
}

void finish(Server& server, const RecordMove& move, RecordCopy& copy) {
  AGW_ASSERT(move.index);
  server.connection().execute("BEGIN");
  copy.transfer_numbering();
  move.index(server.connection());
  AGW_ASSERT(server.connection().in_transaction());
  server.connection().execute("UPDATE record_move SET is_complete = true");
  server.connection().execute("COMMIT");
}

/// The time of the newest turn, for people.
std::string newest_turn(Connection& connection) {
  auto row = connection.prepare("SELECT max(created_at) FROM turns");
  return row.step() && !row.is_null(0) ? to_iso8601(row.time(0)) : "never";
}

/// The remedy if the file was moved before and exists again.
std::string remedy_if_moved_before(Connection& file, Server& server, const RecordMove& move) {
  return fmt::format(
      "They were moved before; the newest message in {0} is of {1}, the one in the database of {2}. To go on with the "
      "file, empty the {3} and run this again; to go on with the database, move the file away (mv {0} {0}.old) and "
      "start the gateway",
      move.file.string(), newest_turn(file), newest_turn(server.connection()), server.name());
}

/// Compares the copy; `remedy` describes how to handle a difference.
std::uint64_t compared(RecordCopy& copy, const std::function<std::string()>& remedy) {
  try {
    return copy.compare();
  } catch (const CopyDiffers& error) {
    refuse(fmt::format("{}: the source has changed since the move began, or the copy has. {}", error.what(), remedy()));
  }
}

/// An unused name for the file.
fs::path unused_name_for(const fs::path& file) {
  fs::path kept = file.string() + ".moved";
  for (int number = 2; fs::exists(kept); ++number) kept = fmt::format("{}.moved-{}", file.string(), number);

  return kept;
}

std::string cluster_of(Server& server) {
  auto row = server.connection().prepare("SELECT id FROM cluster");
  if (!row.step()) refuse(fmt::format("the {} (cluster.database) holds no records of a gateway", server.name()));
  return row.string(0);
}

}  // namespace

MovedRecords move_to_server(const RecordMove& move) {
  AGW_DEBUG_ASSERT(may_block());

  if (!fs::exists(move.file)) refuse(fmt::format("there is nothing to move: there is no {}", move.file.string()));
  Server server(move);
  auto file = open_database(move.file, move.backups, embedded_migrations());
  prepare_database(server.connection(), server.address(), embedded_migrations("postgres"));
  RecordCopy copy(*file, server.connection(), move.progress);
  begin(server, move, copy);
  const auto origin = origin_of(server.connection());
  AGW_CHECK(origin, "the database does not say where its records come from");
  const bool was_complete = origin->is_complete;
  if (!was_complete) copy.copy();
  const auto rows = compared(copy, [&] {
    return was_complete ? remedy_if_moved_before(*file, server, move)
                        : fmt::format("Empty the {} and start again", server.name());
  });
  if (!was_complete) finish(server, move, copy);
  file.reset();
  const auto kept = unused_name_for(move.file);
  fs::rename(move.file, kept);
  return {.rows = rows, .file = kept, .server = server.name()};
}

MovedRecords move_to_file(const RecordMove& move) {
  AGW_DEBUG_ASSERT(may_block());

  if (fs::exists(move.file))
    refuse(fmt::format("{0} is there already: move it away (mv {0} {0}.old)", move.file.string()));
  Server server(move);
  if (!server.has("schema_migrations"))
    refuse(fmt::format("the {} (cluster.database) holds no records of a gateway", server.name()));
  require_complete(server.connection(), server.address());
  prepare_database(server.connection(), server.address(), embedded_migrations("postgres"));
  const fs::path unfinished = fmt::format("{}.from-{}", move.file.string(), cluster_of(server));
  auto file = open_database(unfinished, move.backups, embedded_migrations());
  RecordCopy copy(server.connection(), *file, move.progress);
  copy.copy();
  const auto rows = compared(copy, [&] { return fmt::format("Delete {} and start again", unfinished.string()); });
  copy.transfer_numbering();
  // Closing would checkpoint too, but reports no failure, and the log would stay behind when the file is renamed.
  file->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  file.reset();
  fs::rename(unfinished, move.file);
  return {.rows = rows, .file = move.file, .server = server.name()};
}

void require_complete(Connection& connection, const Address& address) {
  auto there = connection.prepare("SELECT to_regclass('record_move') IS NOT NULL");
  if (!there.step() || !there.boolean(0)) return;
  const auto origin = origin_of(connection);
  if (!origin || origin->is_complete) return;
  refuse(
      fmt::format("the {} (cluster.database) does not hold all records yet: run `agw cluster init` again where {} is",
                  address.name, origin->file));
}

}  // namespace agw::postgres
