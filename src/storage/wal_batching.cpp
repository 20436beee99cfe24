// Writes the log in large pieces without losing SQLite's guarantees. docs/design/storage.md has the measured gain.
//
// A *frame* is one page in the write-ahead log: a header of 24 bytes, then the page. SQLite writes header and page with
// one call each. The *buffer* (`Log::gathered`) contains less than 128 KiB of such writes that directly follow each
// other in the file.
//
// The invariant: the file overlaid with the buffer is exactly what SQLite has written. Therefore
//
//   - a write that does not continue the buffer, or does not fit, flushes it first;
//   - a read takes bytes from the buffer if they are there, else from the file;
//   - sync, truncation, the size and closing flush first. After a sync the file is, byte for byte, what it would be
//     without this VFS, up to its last frame.
//
// The file has zeros after its last frame (`Log::prepare_room`). The sync of a growing log must wait for the file
// system's journal, which waits for the data of other programs; the sync of overwritten bytes waits only for these
// bytes. SQLite never takes zeros for a frame, because a frame begins with its page number. Only the connection with
// the write lock writes here, so anything that it has not written itself is not part of the log.
//
// Other connections read the file, not the buffer. They miss nothing: they read frames only up to the last commit
// announced in shared memory (the WAL index), and with `synchronous = FULL` SQLite announces a commit after its sync.
//
// A flush that fails drops the buffer. SQLite gets the error from the write, sync or truncation that caused the flush,
// and then only rolls back.
//
// A kill with bytes in the buffer loses frames of an uncommitted transaction, because the frame that marks a commit is
// the last one. Recovery ignores frames after the last valid commit, so part of a transaction is harmless. The same
// holds for a power failure, because nothing counts as committed before the sync.

#include "storage/wal_batching.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// SQLite's own file takes the size of a write modulo 128 KiB, so the buffer stays shorter.
constexpr std::size_t piece_end = 128 * 1024;
/// The zeros added to a growing log: as many bytes as it has, within these limits.
constexpr sqlite3_int64 min_room = 64 * 1024;
constexpr sqlite3_int64 max_room = 1024 * 1024;
static_assert(min_room < static_cast<sqlite3_int64>(piece_end));  // written with one call
static_assert(min_room <= max_room);

sqlite3_vfs& own() {
  static auto* const found = sqlite3_vfs_find(nullptr);
  AGW_CHECK(found, "SQLite has no file system of its own");
  return *found;
}

/// An open log. It lies in SQLite's memory, directly followed by SQLite's own file.
struct Log : sqlite3_file {
  std::string gathered;           ///< bytes not yet in the file
  sqlite3_int64 gathered_at = 0;  ///< their position in the file
  sqlite3_int64 written_end = 0;  ///< the end of all frames written by this connection
  sqlite3_int64 room_end = 0;     ///< the end of the file including zeros, as known to this connection

  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods& methods() { return *file()->pMethods; }

  sqlite3_int64 gathered_end() const { return gathered_at + static_cast<sqlite3_int64>(gathered.size()); }

  /// Drops bytes that cannot be written. SQLite gets the error from a write, a sync or a truncation; afterwards it only
  /// accepts a rollback, and never reads what it wrote since the last commit.
  int flush() {
    if (gathered.empty()) return SQLITE_OK;
    AGW_ASSERT(gathered.size() < piece_end);
    AGW_ASSERT(gathered_at >= 0);
    const int code = methods().xWrite(file(), gathered.data(), static_cast<int>(gathered.size()), gathered_at);
    if (code == SQLITE_OK) written_end = std::max(written_end, gathered_end());
    gathered.clear();
    return code;
  }

  /// Adds zeros before a sync. If they do not fit, as on a full disk, the log grows frame by frame.
  void prepare_room() {
    if (written_end <= room_end) return;
    sqlite3_int64 end = 0;
    if (methods().xFileSize(file(), &end) != SQLITE_OK) return;
    if (written_end >= end) end = add_zeros(written_end);
    room_end = std::max(written_end, end);
    AGW_ASSERT(room_end >= written_end);
  }

  /// Returns the end of the zeros. Written in pieces, because SQLite's own file accepts less than 128 KiB per call.
  sqlite3_int64 add_zeros(sqlite3_int64 at) {
    AGW_ASSERT(at > 0);
    AGW_ASSERT(at == written_end);
    const auto end = at + std::clamp(at, min_room, max_room);
    const std::string zeros(static_cast<std::size_t>(min_room), '\0');
    while (at < end && methods().xWrite(file(), zeros.data(), static_cast<int>(min_room), at) == SQLITE_OK)
      at += min_room;
    return at;
  }

  int write(std::string_view bytes, sqlite3_int64 at) {
    AGW_ASSERT(at >= 0);
    AGW_ASSERT(bytes.size() < piece_end);
    if (at != gathered_end() || gathered.size() + bytes.size() >= piece_end) {
      if (const int code = flush(); code != SQLITE_OK) return code;
    }
    if (gathered.empty()) gathered_at = at;
    gathered += bytes;
    AGW_ASSERT(gathered.size() < piece_end);
    AGW_ASSERT(gathered_end() == at + static_cast<sqlite3_int64>(bytes.size()));
    return SQLITE_OK;
  }

  /// Reads from the buffer without flushing it. A flush could fail, and SQLite would continue after a failed read.
  int read(void* bytes, int size, sqlite3_int64 at) {
    AGW_ASSERT(bytes);
    AGW_ASSERT(size >= 0);
    AGW_ASSERT(at >= 0);
    const auto end = at + size;
    if (at >= gathered_at && end <= gathered_end()) {
      std::memcpy(bytes, gathered.data() + (at - gathered_at), static_cast<std::size_t>(size));
      return SQLITE_OK;
    }
    // Only a commit that repairs checksums reads the header and the page of a frame with one call.
    if (at < gathered_end() && end > gathered_at) {
      if (const int code = flush(); code != SQLITE_OK) return code;
    }
    return methods().xRead(file(), bytes, size, at);
  }
};

Log& log_of(sqlite3_file* file) { return *static_cast<Log*>(file); }

/// SQLite's own method, after the buffer is flushed.
template <auto method, class... Arguments>
int flushed(sqlite3_file* file, Arguments... arguments) {
  auto& log = log_of(file);
  if (const int code = log.flush(); code != SQLITE_OK) return code;
  return (log.methods().*method)(log.file(), arguments...);
}

template <auto method, class... Arguments>
int unchanged(sqlite3_file* file, Arguments... arguments) {
  auto& log = log_of(file);
  return (log.methods().*method)(log.file(), arguments...);
}

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  return log_of(file).write({static_cast<const char*>(bytes), static_cast<std::size_t>(size)}, at);
}

int sync(sqlite3_file* file, int flags) {
  auto& log = log_of(file);
  if (const int code = log.flush(); code != SQLITE_OK) return code;
  log.prepare_room();
  AGW_ASSERT(log.gathered.empty());
  return log.methods().xSync(log.file(), flags);
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  AGW_ASSERT(size >= 0);
  const int code = flushed<&sqlite3_io_methods::xTruncate>(file, size);
  AGW_ASSERT(log_of(file).gathered.empty());
  log_of(file).written_end = log_of(file).room_end = size;
  return code;
}

int read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 at) { return log_of(file).read(bytes, size, at); }

int close(sqlite3_file* file) {
  auto& log = log_of(file);
  const int flushed = log.flush();
  const int closed = log.methods().xClose(log.file());
  AGW_ASSERT(log.gathered.empty());
  std::destroy_at(&log);
  return flushed != SQLITE_OK ? flushed : closed;
}

constexpr sqlite3_io_methods log_methods{
    .iVersion = 1,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = flushed<&sqlite3_io_methods::xFileSize>,
    .xLock = unchanged<&sqlite3_io_methods::xLock>,
    .xUnlock = unchanged<&sqlite3_io_methods::xUnlock>,
    .xCheckReservedLock = unchanged<&sqlite3_io_methods::xCheckReservedLock>,
    .xFileControl = unchanged<&sqlite3_io_methods::xFileControl>,
    .xSectorSize = unchanged<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = unchanged<&sqlite3_io_methods::xDeviceCharacteristics>,
};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
  if ((flags & SQLITE_OPEN_WAL) == 0) return own().xOpen(&own(), name, file, flags, opened);
  auto& log = *std::construct_at(static_cast<Log*>(file));
  const int code = own().xOpen(&own(), name, log.file(), flags, opened);
  if (code == SQLITE_OK) {
    log.pMethods = &log_methods;
  } else {
    log.pMethods = nullptr;
    std::destroy_at(&log);
  }
  return code;
}

}  // namespace

const char* wal_batching_vfs() {
  static const auto registered = [] {
    static sqlite3_vfs file_system = own();
    // SQLite's own file lies directly after the log.
    static_assert(sizeof(Log) % alignof(sqlite3_int64) == 0);
    file_system.zName = "log-gathering";
    file_system.pNext = nullptr;
    file_system.szOsFile += static_cast<int>(sizeof(Log));
    file_system.xOpen = open;
    AGW_CHECK(sqlite3_vfs_register(&file_system, 0) == SQLITE_OK, "cannot register a file system");
    return file_system.zName;
  }();
  return registered;
}

}  // namespace agw
