// Reads an entry, and replaces one only if it is still the version that the caller saw. The kernel has no such
// operation, so the new entry is exchanged with the present one, which is then compared: if another program changed it
// first, both are exchanged back. A removal moves the entry aside and compares it there.
//
// File systems that cannot exchange names (many network file systems) get a plain rename immediately after a
// comparison. This leaves a gap of microseconds.

#include "io/files/entry_state.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr int read_attempts = 3;
constexpr std::size_t max_link_length = 4096;

timespec time_of(std::int64_t nanoseconds) {
  constexpr std::int64_t second = 1'000'000'000;
  auto seconds = nanoseconds / second;
  auto rest = nanoseconds % second;
  if (rest < 0) {
    rest += second;
    --seconds;
  }
  AGW_ASSERT(rest >= 0);
  AGW_ASSERT(rest < second);
  return {.tv_sec = seconds, .tv_nsec = rest};
}

EntryKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  if (S_ISLNK(mode)) return EntryKind::symlink;
  return S_ISDIR(mode) ? EntryKind::directory : EntryKind::other;
}

EntryState state_of(const struct stat& status) {
  return {.kind = kind_of(status.st_mode),
          .mode = status.st_mode & 07777u,
          .modified_ns = nanoseconds_of(status.st_mtim),
          .accessed_ns = nanoseconds_of(status.st_atim),
          .stamp = {.inode = status.st_ino,
                    .size = static_cast<std::uint64_t>(status.st_size),
                    .modified_ns = nanoseconds_of(status.st_mtim),
                    .changed_ns = nanoseconds_of(status.st_ctim)},
          .links = status.st_nlink,
          .device = status.st_dev};
}

/// A rename changes only the time of the last status change.
bool is_same_content(const FileStamp& one, const FileStamp& other) {
  return one.inode == other.inode && one.size == other.size && one.modified_ns == other.modified_ns;
}

/// Returns false if the file changed during the read.
bool read_file(int directory, const std::string& name, std::size_t limit, EntryState& state) {
  const Descriptor file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return errno != ENOENT && errno != ELOOP;
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  state = state_of(status);
  auto content = read_opened(file, limit);
  if (!content) return true;
  struct stat afterwards{};
  if (::fstat(file.get(), &afterwards) != 0 || state_of(afterwards).stamp != state.stamp) return false;
  AGW_ASSERT(content->size() <= limit);
  state.content = *std::move(content);
  state.has_content = state.content.size() == state.stamp.size;
  return state.has_content;
}

void read_link(int directory, const std::string& name, EntryState& state) {
  std::array<char, max_link_length> target{};
  const auto length = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  state.has_content = length >= 0 && static_cast<std::size_t>(length) < target.size();
  if (state.has_content) state.content.assign(target.data(), static_cast<std::size_t>(length));
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(file, content.data(), content.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Whether a rename failed because the file system supports none of its flags, as many network file systems.
bool knows_no_flags(int reason) { return reason == EINVAL || reason == ENOSYS || reason == ENOTSUP; }

bool is_no_empty_directory(int reason) {
  return reason == ENOTEMPTY || reason == EEXIST || reason == ENOENT || reason == ENOTDIR;
}

/// Exchanges two names. If the file system cannot exchange, renames instead, which leaves a gap of microseconds.
enum class Exchanged { yes, replaced, no };
Exchanged exchange(int directory, const std::string& one, const std::string& other) {
  if (::renameat2(directory, one.c_str(), directory, other.c_str(), RENAME_EXCHANGE) == 0) return Exchanged::yes;
  if (!knows_no_flags(errno)) return Exchanged::no;
  return ::renameat(directory, one.c_str(), directory, other.c_str()) == 0 ? Exchanged::replaced : Exchanged::no;
}

/// For file systems that cannot exchange names: briefly, the entry does not exist.
bool replace_empty_directory(int directory, const std::string& name, const NewEntry& entry, mode_t mode,
                             const std::filesystem::path& path) {
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) {
    if (is_no_empty_directory(errno)) return false;
    throw_errno("cannot write " + path.string());
  }
  try {
    return rename_entry(directory, entry.name(), name, path);
  } catch (const std::system_error&) {
    ::mkdirat(directory, name.c_str(), mode);
    throw;
  }
}

bool replace(int directory, const std::string& name, NewEntry& entry, const FileStamp& present,
             const std::filesystem::path& path) {
  AGW_ASSERT(present != FileStamp{});
  const auto found = stat_entry(directory, name, path);
  if (found.stamp != present) return false;
  AGW_ASSERT(found.kind != EntryKind::absent);
  switch (exchange(directory, entry.name(), name)) {
    case Exchanged::no:
      if (errno == ENOENT) return false;
      if (errno == EISDIR) return replace_empty_directory(directory, name, entry, found.mode, path);
      throw_errno("cannot write " + path.string());
    case Exchanged::replaced:
      return true;
    case Exchanged::yes:
      break;
  }
  const auto former = stat_entry(directory, entry.name(), path);
  const bool is_present = is_same_content(former.stamp, present);
  const bool is_directory = former.kind == EntryKind::directory;
  if (is_present && (!is_directory || ::unlinkat(directory, entry.name().c_str(), AT_REMOVEDIR) == 0)) return true;
  if (exchange(directory, entry.name(), name) == Exchanged::yes) return false;
  entry.keep();
  throw_errno("cannot put back " + path.string() + ", which is now " + entry.name());
}

/// Only this call may use the name `aside`. Without support for flags, `name` must not be unlinked after a link: it may
/// be another file by then.
bool move_aside(int directory, const std::string& name, const std::string& aside, const std::filesystem::path& path) {
  if (::renameat2(directory, name.c_str(), directory, aside.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (knows_no_flags(errno)) {
    if (stat_entry(directory, aside, path).kind != EntryKind::absent) return false;
    if (::renameat(directory, name.c_str(), directory, aside.c_str()) == 0) return true;
  }
  if (errno == EEXIST || errno == ENOENT) return false;
  throw_errno("cannot write " + path.string());
}

void put_back(int directory, const std::string& aside, const std::string& name, const std::filesystem::path& path) {
  if (rename_entry(directory, aside, name, path)) return;
  throw std::system_error(std::make_error_code(std::errc::file_exists),
                          "two files were to be " + path.string() + ": the other one is " + aside);
}

/// Moves the entry away first, because another program could replace it between the check and the removal.
bool remove(int directory, const std::string& name, const FileStamp& present, const std::filesystem::path& path,
            const std::string& aside) {
  AGW_ASSERT(present != FileStamp{});
  const auto state = stat_entry(directory, name, path);
  if (state.kind == EntryKind::directory) {
    if (state.stamp.inode != present.inode) return false;
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (is_no_empty_directory(errno)) return false;
    throw_errno("cannot remove " + path.string());
  }
  if (state.stamp != present || !move_aside(directory, name, aside, path)) return false;
  if (is_same_content(stat_entry(directory, aside, path).stamp, present)) {
    return ::unlinkat(directory, aside.c_str(), 0) == 0;
  }
  put_back(directory, aside, name, path);
  return false;
}

bool make_directory(int directory, const std::string& name, const EntryState& wanted,
                    const std::filesystem::path& path) {
  AGW_ASSERT(wanted.kind == EntryKind::directory);
  if (::mkdirat(directory, name.c_str(), 0700) != 0) {
    if (errno == EEXIST) return false;
    throw_errno("cannot make " + path.string());
  }
  if (::fchmodat(directory, name.c_str(), wanted.mode, 0) != 0) throw_errno("cannot make " + path.string());
  return true;
}

/// For file systems that cannot exchange names: briefly, the entry does not exist.
bool make_directory_in_place(int directory, const std::string& name, const EntryState& wanted, const FileStamp& present,
                             const std::filesystem::path& path, const std::string& aside) {
  if (!move_aside(directory, name, aside, path)) return false;
  try {
    const bool is_present = is_same_content(stat_entry(directory, aside, path).stamp, present);
    if (is_present && make_directory(directory, name, wanted, path))
      return ::unlinkat(directory, aside.c_str(), 0) == 0;
  } catch (const std::system_error&) {
    put_back(directory, aside, name, path);
    throw;
  }
  put_back(directory, aside, name, path);
  return false;
}

/// Replaces a file by an empty directory.
bool replace_by_directory(int directory, const std::string& name, const EntryState& wanted, const FileStamp& present,
                          const std::filesystem::path& path, const std::string& aside) {
  AGW_ASSERT(present != FileStamp{});
  if (stat_entry(directory, name, path).stamp != present) return false;
  if (!make_directory(directory, aside, wanted, path)) return false;
  const bool is_exchanged = exchange(directory, aside, name) == Exchanged::yes;
  const auto reason = errno;
  if (is_exchanged && is_same_content(stat_entry(directory, aside, path).stamp, present)) {
    return ::unlinkat(directory, aside.c_str(), 0) == 0;
  }
  if (is_exchanged && exchange(directory, aside, name) != Exchanged::yes)
    throw_errno("cannot put back " + path.string() + ", which is now " + aside);
  ::unlinkat(directory, aside.c_str(), AT_REMOVEDIR);
  if (is_exchanged || reason == ENOENT) return false;
  if (reason == ENOTDIR) return make_directory_in_place(directory, name, wanted, present, path, aside);
  throw std::system_error(reason, std::generic_category(), "cannot make " + path.string());
}

/// With `later`, only makes file systems assign the blocks, as some do before a rename: otherwise, a file that lost its
/// content could replace one that had some.
bool put_on_disk(int file, Durability durability) {
  if (durability == Durability::now) return ::fsync(file) == 0;
  ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  return true;
}

void sync_directory(int directory, const std::filesystem::path& path) {
  if (::fsync(directory) != 0 && errno != EINVAL) throw_errno("cannot write " + path.string());
}

}  // namespace

NewEntry::NewEntry(int directory, const EntryState& wanted, const std::filesystem::path& path, std::string name,
                   Durability durability)
    : directory_(directory), name_(std::move(name)) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(!name_.empty());
  AGW_ASSERT(name_.find('/') == name_.npos);
  AGW_DEBUG_ASSERT(wanted.kind == EntryKind::file || wanted.kind == EntryKind::symlink);

  const bool is_made = wanted.kind == EntryKind::symlink ? make_link(wanted) : make_file(wanted);
  if (is_made && wanted.modified_ns != 0) set_times(wanted);
  if (is_made && (!file_ || put_on_disk(file_.get(), durability))) return;
  const auto reason = errno;
  if (is_made || file_) ::unlinkat(directory_, name_.c_str(), 0);
  throw std::system_error(reason, std::generic_category(), "cannot write " + path.string());
}

NewEntry::~NewEntry() { remove(); }

void NewEntry::remove() {
  if (!std::exchange(kept_, true)) ::unlinkat(directory_, name_.c_str(), 0);
}

void NewEntry::remove_former() {
  AGW_ASSERT(!kept_);
  AGW_ASSERT(!former_);
  former_ = Descriptor(::openat(directory_, name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  remove();
}

bool NewEntry::make_link(const EntryState& wanted) const {
  return ::symlinkat(wanted.content.c_str(), directory_, name_.c_str()) == 0;
}

bool NewEntry::make_file(const EntryState& wanted) {
  file_ = Descriptor(::openat(directory_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return file_ && write_all(file_.get(), wanted.content) && ::fchmod(file_.get(), wanted.mode) == 0;
}

void NewEntry::set_times(const EntryState& wanted) const {
  const std::array times{time_of(wanted.accessed_ns), time_of(wanted.modified_ns)};
  ::utimensat(directory_, name_.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}

EntryState stat_entry(int directory, const std::string& name, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return state_of(status);
  if (errno == ENOENT) return {};
  throw_errno("cannot read " + path.string());
}

EntryState stat_opened(int descriptor, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) throw_errno("cannot read " + path.string());
  return state_of(status);
}

std::optional<std::int64_t> birth_of(int directory, const std::string& name, const FileStamp& stamp) {
  AGW_DEBUG_ASSERT(may_block());

  struct statx status{};
  constexpr auto wanted = STATX_BTIME | STATX_INO;
  if (::statx(directory, name.c_str(), AT_SYMLINK_NOFOLLOW, wanted, &status) != 0) return std::nullopt;
  if ((status.stx_mask & STATX_BTIME) == 0 || status.stx_ino != stamp.inode) return std::nullopt;
  return nanoseconds_of({.tv_sec = status.stx_btime.tv_sec, .tv_nsec = status.stx_btime.tv_nsec});
}

std::int64_t file_clock_now() {
  timespec now{};
  // The precise clock would be some milliseconds ahead of the times of files.
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanoseconds_of(now);
}

EntryState read_entry(int directory, const std::string& name, std::size_t limit, const std::filesystem::path& path) {
  AGW_DEBUG_ASSERT(may_block());

  EntryState state;
  for (int attempt = 0; attempt < read_attempts; ++attempt) {
    state = stat_entry(directory, name, path);
    if (state.kind == EntryKind::symlink) read_link(directory, name, state);
    if (state.kind != EntryKind::file || state.stamp.size > limit) return state;
    if (read_file(directory, name, limit, state)) return state;
  }
  return state;
}

bool rename_entry(int directory, const std::string& from, const std::string& to, const std::filesystem::path& path) {
  AGW_DEBUG_ASSERT(may_block());

  if (::renameat2(directory, from.c_str(), directory, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // Like a rename with the flag, a link never replaces an entry.
  if (knows_no_flags(errno) && ::linkat(directory, from.c_str(), directory, to.c_str(), 0) == 0) {
    if (::unlinkat(directory, from.c_str(), 0) == 0 || errno == ENOENT) return true;
  } else if (errno == EEXIST || errno == ENOENT) {
    return false;
  }
  throw_errno("cannot write " + path.string());
}

bool put_entry(int directory, const std::string& name, const EntryState& wanted, const FileStamp& present,
               const std::filesystem::path& path, const std::string& temporary) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(name.find('/') == name.npos);

  const bool is_absent = present == FileStamp{};
  if (wanted.kind == EntryKind::absent) {
    if (!is_absent && !remove(directory, name, present, path, temporary)) return false;
  } else if (wanted.kind == EntryKind::directory) {
    const bool is_put = is_absent ? make_directory(directory, name, wanted, path)
                                  : replace_by_directory(directory, name, wanted, present, path, temporary);
    if (!is_put) return false;
  } else {
    NewEntry entry(directory, wanted, path, temporary);
    return put_entry(directory, name, entry, present, path);
  }
  sync_directory(directory, path);
  return true;
}

bool put_entry(int directory, const std::string& name, NewEntry& entry, const FileStamp& present,
               const std::filesystem::path& path, Durability durability) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(name.find('/') == name.npos);

  const bool is_put = present == FileStamp{} ? rename_entry(directory, entry.name(), name, path)
                                             : replace(directory, name, entry, present, path);
  if (!is_put) return false;
  entry.remove_former();
  if (durability == Durability::now) sync_directory(directory, path);
  return true;
}

}  // namespace agw
