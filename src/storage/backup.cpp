#include "storage/backup.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/time/time.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept_copies = 3;
constexpr std::string_view unfinished_ending = ".unfinished";

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), fmt::format("{} {}", what, path.string()));
}

/// Names sort by time and contain no colons, before which scp and rsync expect a host name.
std::string name_of_copy(int version) {
  auto time = to_iso8601(SystemClock{}.now());
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("gateway-{}-schema-{:04}.db", time, version);
}

void copy(Connection& from, const fs::path& path) {
  Connection to(path.string(), Connection::Access::read_write);
  auto* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (!backup) to.check(sqlite3_extended_errcode(to.handle()), path.string());
  sqlite3_backup_step(backup, -1);
  to.check(sqlite3_backup_finish(backup), path.string());
}

/// The latest first.
std::vector<fs::path> copies_in(const fs::path& directory) {
  std::vector<fs::path> copies;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("gateway-") && name.ends_with(".db")) copies.push_back(entry.path());
  }
  std::ranges::sort(copies, std::greater{});
  return copies;
}

/// Parses the version from a name made by name_of_copy().
bool is_at_most(const fs::path& copy, int version) {
  constexpr std::string_view mark = "-schema-";
  const auto name = copy.stem().string();
  const auto place = name.rfind(mark);
  int found = 0;
  return place != name.npos &&
         std::from_chars(name.data() + place + mark.size(), name.data() + name.size(), found).ec == std::errc{} &&
         found <= version;
}

/// Keeps the newest one in any case: if the clock was set back, its name is not the last.
void remove_older_backups(const fs::path& directory, const fs::path& newest) {
  const auto copies = copies_in(directory);
  for (std::size_t i = kept_copies; i < copies.size(); ++i) {
    if (copies[i] != newest) fs::remove(copies[i]);
  }
}

/// What a kill left. Nobody else makes copies: the caller has the lock of the data directory.
void remove_unfinished(const fs::path& directory) {
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("gateway-") && name.ends_with(unfinished_ending)) unfinished.push_back(entry.path());
  }
  for (const auto& path : unfinished) fs::remove(path);
}

}  // namespace

void make_private_file(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) fail("cannot create", path);
  close(descriptor);
}

void back_up(Connection& connection, const fs::path& directory, int version) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(version > 0);
  AGW_ASSERT(!connection.in_transaction());

  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) fail("cannot create", directory);
  const auto path = directory / name_of_copy(version);
  AGW_ASSERT(is_at_most(path, version));
  AGW_ASSERT(!is_at_most(path, version - 1));
  remove_unfinished(directory);
  auto unfinished = path;
  unfinished += unfinished_ending;
  try {
    make_private_file(unfinished);
    copy(connection, unfinished);
    fs::rename(unfinished, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
  remove_older_backups(directory, path);
}

std::optional<fs::path> latest_copy(const fs::path& directory, int version) {
  if (!fs::is_directory(directory)) return std::nullopt;
  const auto copies = copies_in(directory);
  const auto found = std::ranges::find_if(copies, [&](const auto& copy) { return is_at_most(copy, version); });
  return found == copies.end() ? std::nullopt : std::optional(*found);
}

}  // namespace agw
