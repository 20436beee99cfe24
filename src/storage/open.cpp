#include "storage/open.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "storage/backup.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic{"SQLite format 3\0", 16};
static_assert(magic.back() == '\0');
constexpr std::int64_t small_file = 256;  // pages

struct Place {
  const fs::path& file;
  const fs::path& backups;

  fs::path log() const { return file.string() + "-wal"; }
  fs::path index() const { return file.string() + "-shm"; }

  [[noreturn]] void unusable(std::string_view reason) const {
    throw StartError(
        ExitStatus::database_unusable,
        fmt::format("the database {} {}. It was left as it is. Move it away together with the files beside "
                    "it ({}-wal, {}-shm) to start with an empty one, or put a copy in its place ({} has "
                    "those made before migrations).",
                    file.string(), reason, file.filename().string(), file.filename().string(), backups.string()));
  }
  /// The schema is newer than this program, as after a downgrade.
  [[noreturn]] void too_new(int version, int latest) const {
    const auto copy = latest_copy(backups, latest);
    const auto way_back =
        copy ? fmt::format(
                   "Or go back to how it was before the upgrade, without what came later: move it away together with "
                   "the files beside it ({0}-wal, {0}-shm), then copy {1} to {2}",
                   file.filename().string(), copy->string(), file.string())
             : std::string("Or restore a backup of that time: agw restore <file>");
    throw StartError(
        ExitStatus::database_unusable,
        fmt::format("the database {} was written by a newer agw (schema {}, this one knows {}). It was left as it "
                    "is. Install the newer agw again. {}",
                    file.string(), version, latest, way_back));
  }
  [[noreturn]] void inaccessible(std::string_view reason) const {
    throw StartError(ExitStatus::failure, fmt::format("cannot use the database {}: {}", file.string(), reason));
  }
};

std::uintmax_t size_or_0(const fs::path& path) {
  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  return ignored ? 0 : size;
}

/// Root can write read-only files, but such a file is not meant to be written.
void require_writable(const Place& place, const fs::path& path) {
  const auto permissions = fs::status(path).permissions();
  const bool marked = (permissions & fs::perms::owner_write) != fs::perms::none;
  if (marked && access(path.c_str(), R_OK | W_OK) == 0) return;
  place.inaccessible(fmt::format("{} is not writable. Make it so: chmod u+rw {}", path.string(), path.string()));
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  AGW_ASSERT(at + 4 <= bytes.size());
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Compares the 100-byte header with the file's length. They match exactly unless the log is not checkpointed.
void check_header(const Place& place) {
  std::array<char, 100> bytes{};
  std::ifstream stream(place.file, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  const std::string_view header(bytes.data(), static_cast<std::size_t>(stream.gcount()));
  if (header.size() < bytes.size() || !header.starts_with(magic)) place.unusable("is not a SQLite database");

  if (size_or_0(place.log()) > 0 || big_endian(header, 24) != big_endian(header, 92)) return;
  const auto stored = big_endian(header, 16) >> 16;
  const std::uintmax_t page_size = stored == 1 ? 65536 : stored;
  if (fs::file_size(place.file) < page_size * big_endian(header, 28)) {
    place.unusable("is damaged: its end is missing");
  }
}

std::int64_t count_pages(Connection& connection) {
  auto row = connection.prepare("PRAGMA page_count");
  row.step();
  return row.integer(0);
}

/// Checks all of a small file, which takes less than a millisecond; only the root pages of a large one.
void check_pages(const Place& place, Connection& connection) {
  if (count_pages(connection) <= small_file) {
    auto row = connection.prepare("PRAGMA quick_check(1)");
    if (row.step() && row.text(0) != "ok") place.unusable(fmt::format("is damaged: {}", row.text(0)));
    return;
  }
  std::vector<std::string> names;
  auto row = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0");
  while (row.step()) names.push_back(row.string(0));
  for (const auto& name : names)
    connection.prepare(fmt::format("SELECT 1 FROM \"{}\" NOT INDEXED LIMIT 1", name)).step();
}

bool is_empty(Connection& connection) { return !connection.prepare("SELECT 1 FROM sqlite_schema").step(); }

void check_content(const Place& place, Connection& connection, std::span<const Migration> migrations) {
  // The file must not change before it is known to be a gateway's.
  AGW_ASSERT(!connection.in_transaction());
  const int version = schema_version(connection);
  const int latest = migrations.empty() ? 0 : migrations.back().number;
  if (version > latest) place.too_new(version, latest);
  if (version == 0 && !is_empty(connection)) place.unusable("is not a gateway's: it holds tables of another program");
  check_pages(place, connection);
}

/// Replaces SQLite's errors about the file by our own messages.
[[noreturn]] void explain(const Place& place, const DatabaseError& error) {
  if (error.is_damage()) place.unusable(fmt::format("is damaged: {}", error.what()));
  if (primary_code(error.code()) == SQLITE_BUSY)
    place.inaccessible("another program has locked it. End that program first.");
  place.inaccessible(error.what());
}

/// Opens an existing file without leaving traces during the checks: closing would checkpoint the log into a damaged
/// file.
std::unique_ptr<Connection> open_checked(const Place& place, std::span<const Migration> migrations) {
  check_header(place);
  const bool had_log = fs::exists(place.log());
  const bool had_index = fs::exists(place.index());
  std::unique_ptr<Connection> connection;
  try {
    connection = std::make_unique<Connection>(place.file.string(), Connection::Access::read_write);
    sqlite3_db_config(connection->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    check_content(place, *connection, migrations);
    sqlite3_db_config(connection->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    return connection;
  } catch (...) {
    connection.reset();
    std::error_code ignored;
    if (!had_log) fs::remove(place.log(), ignored);
    if (!had_index) fs::remove(place.index(), ignored);
    throw;
  }
}

void ensure_log(const Place& place, Connection& connection) {
  auto mode = connection.prepare("PRAGMA journal_mode = WAL");
  if (!mode.step() || mode.text(0) != "wal") {
    place.inaccessible(
        "its file system cannot share memory between connections, which SQLite's log needs (a network "
        "drive?). Choose a data directory on a local disk.");
  }
  // SQLite truncates a log above this size when it restarts it. The limit is high enough for a log that grew during a
  // backup: truncating that would delay a write.
  connection.execute("PRAGMA journal_size_limit = 536870912");
}

std::unique_ptr<Connection> create(const Place& place) {
  if (size_or_0(place.log()) > 0) place.unusable(fmt::format("is empty or gone, but {} is not", place.log().string()));
  make_private_file(place.file);
  return std::make_unique<Connection>(place.file.string(), Connection::Access::read_write);
}

}  // namespace

std::unique_ptr<Connection> open_database(const fs::path& file, const fs::path& backups,
                                          std::span<const Migration> migrations) {
  const Place place{file, backups};
  try {
    const auto directory = fs::absolute(file).parent_path();
    if (!fs::is_directory(directory)) place.inaccessible(fmt::format("there is no directory {}", directory.string()));
    require_writable(place, directory);
    if (fs::exists(file)) require_writable(place, file);
    auto connection = size_or_0(file) == 0 ? create(place) : open_checked(place, migrations);
    ensure_log(place, *connection);
    migrate(*connection, migrations, backups);
    AGW_ASSERT(!connection->in_transaction());
    return connection;
  } catch (const DiskFull&) {
    throw;
  } catch (const DatabaseError& error) {
    explain(place, error);
  } catch (const std::system_error& error) {
    place.inaccessible(error.what());
  }
}

std::string immutable_address(const std::filesystem::path& file) {
  std::string address = "file:";
  for (const char c : file.string())
    c == '%' || c == '?' || c == '#' ? void(address += fmt::format("%{:02x}", c)) : void(address += c);
  return address + "?immutable=1";  // https://sqlite.org/uri.html
}

void refuse_database(const fs::path& file, const fs::path& backups, const DatabaseError& error) {
  explain(Place{file, backups}, error);
}

}  // namespace agw
