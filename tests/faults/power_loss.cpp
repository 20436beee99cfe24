// A library for LD_PRELOAD that simulates a power failure: before its n-th change of a file, the program loses data
// that it had not synced, and is killed. The files are then in a state that is possible after a real power failure.
//
//   POWER_LOSS_ROOT   only files below this directory are affected, except logs/ and SQLite's -shm files
//   POWER_LOSS_SAVED  an empty directory on the same file system, for files that were replaced or removed
//   POWER_LOSS_AT     the number of the change before which the power fails; 0: never
//   POWER_LOSS_SEED   chooses which unsynced changes reach the disk all the same
//   POWER_LOSS_COUNT  a file to which the number of changes is written when the program exits normally
//
// The model. Content: of the writes since the last fsync of their file, any combination is kept, and the last one kept
// may be torn at a sector. Names (create, rename, remove): of the changes since the last fsync of any file, those up to
// some point are kept and all later ones are lost, as in a journal (ext4, XFS).
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t sector = 512;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

#define REAL(name)                                            \
  (*[] {                                                      \
    static auto* const found = real<decltype(::name)>(#name); \
    return found;                                             \
  }())

std::string text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

struct Write {
  off_t offset;
  std::string before;
  std::string after;
  off_t size_before;
  off_t size_after;
};

/// The content of a file since it was last synced.
struct File {
  int descriptor;
  std::vector<Write> writes;
};

using Inode = std::pair<dev_t, ino_t>;

class Disk {
public:
  static Disk& get() {
    static auto* const disk = new Disk();  // never destroyed: other threads may still write at exit
    return *disk;
  }

  std::recursive_mutex& mutex() { return mutex_; }

  /// Whether this is a regular file that is affected.
  bool has(int descriptor) const {
    struct stat status{};
    return !root_.empty() && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && has(path_of(descriptor));
  }
  bool has_directory(int descriptor) const { return !root_.empty() && has(path_of(descriptor)); }

  /// Called before each change. Does not return if the power fails before this one.
  void count() {
    if (++changes_ == at_) fail();
  }

  void note_write(int descriptor, off_t offset, std::string after, off_t size_after) {
    auto& file = file_of(descriptor);
    struct stat status{};
    ::fstat(file.descriptor, &status);
    std::string before(after.size(), '\0');
    const auto got = ::pread(file.descriptor, before.data(), before.size(), offset);
    before.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    file.writes.push_back({offset, std::move(before), std::move(after), status.st_size, size_after});
  }

  void note_size(int descriptor, off_t size) {
    struct stat status{};
    ::fstat(descriptor, &status);
    auto& file = file_of(descriptor);
    std::string lost(status.st_size > size ? static_cast<std::size_t>(status.st_size - size) : 0, '\0');
    if (!lost.empty() && ::pread(file.descriptor, lost.data(), lost.size(), size) < 0) lost.clear();
    file.writes.push_back({size, std::move(lost), "", status.st_size, size});
  }

  /// `undo` reverts a change of names that was made.
  void note_names(std::function<void()> undo) { names_.push_back(std::move(undo)); }

  /// Saves a file that is about to lose this name by a hard link, and returns its path, or "" if there is no such file.
  std::string save(int directory, const char* name) {
    struct stat status{};
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(status.st_mode)) return {};
    const auto saved = saved_ + "/" + std::to_string(++saved_count_);
    return REAL(linkat)(directory, name, AT_FDCWD, saved.c_str(), 0) == 0 ? saved : std::string();
  }

  void sync(int descriptor) {
    struct stat status{};
    if (::fstat(descriptor, &status) == 0) forget_writes({status.st_dev, status.st_ino});
    names_.clear();
  }

  void sync_all() {
    while (!files_.empty()) forget_writes(files_.begin()->first);
    names_.clear();
  }

  void end() const {
    const auto path = text_of("POWER_LOSS_COUNT");
    if (path.empty() || changes_ == 0) return;
    if (auto* file = std::fopen(path.c_str(), "w")) {
      std::fprintf(file, "%ld\n", changes_);
      std::fclose(file);
    }
  }

private:
  static std::string path_of(int descriptor) {
    char path[PATH_MAX];
    const auto link = "/proc/self/fd/" + std::to_string(descriptor);
    const auto size = ::readlink(link.c_str(), path, sizeof path);
    return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
  }

  bool has(const std::string& path) const {
    const auto ends_with = [&](const std::string& end) {
      return path.size() >= end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
    };
    return path.compare(0, root_.size(), root_) == 0 && path.find("/logs/") == path.npos && !ends_with("/logs") &&
           !ends_with("-shm");
  }

  File& file_of(int descriptor) {
    struct stat status{};
    ::fstat(descriptor, &status);
    const Inode inode{status.st_dev, status.st_ino};
    const auto found = files_.find(inode);
    if (found != files_.end()) return found->second;
    const auto link = "/proc/self/fd/" + std::to_string(descriptor);
    return files_[inode] = {REAL(open)(link.c_str(), O_RDWR | O_CLOEXEC), {}};
  }

  void forget_writes(const Inode& inode) {
    const auto found = files_.find(inode);
    if (found == files_.end()) return;
    REAL(close)(found->second.descriptor);
    files_.erase(found);
  }

  [[noreturn]] void fail() {
    std::mt19937 random(static_cast<unsigned>(seed_));
    for (auto& [inode, file] : files_) lose_content(file, random);
    const auto kept = std::uniform_int_distribution<std::size_t>(0, names_.size())(random);
    while (names_.size() > kept) {
      names_.back()();
      names_.pop_back();
    }
    ::kill(::getpid(), SIGKILL);
    ::_exit(137);
  }

  static void lose_content(File& file, std::mt19937& random) {
    auto& writes = file.writes;
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
      put(file.descriptor, write->before, write->offset);
      REAL(ftruncate)(file.descriptor, write->size_before);
    }
    // Often all or nothing, because random combinations would hardly ever lose everything.
    const auto kind = std::uniform_int_distribution<int>(0, 3)(random);
    if (kind == 0) return;
    const Write* last = nullptr;
    for (const auto& write : writes) {
      if (kind == 1 && std::bernoulli_distribution(0.5)(random)) continue;
      put(file.descriptor, write.after, write.offset);
      if (write.size_after >= 0) REAL(ftruncate)(file.descriptor, write.size_after);
      last = &write;
    }
    if (kind != 2 || !last || last->after.size() <= sector) return;
    const auto whole = std::uniform_int_distribution<std::size_t>(0, last->after.size() / sector)(random) * sector;
    put(file.descriptor, last->before.size() > whole ? last->before.substr(whole) : std::string(),
        last->offset + static_cast<off_t>(whole));
  }

  static void put(int descriptor, const std::string& bytes, off_t offset) {
    if (!bytes.empty() && REAL(pwrite)(descriptor, bytes.data(), bytes.size(), offset) < 0) std::perror("power_loss");
  }

  std::string root_ = text_of("POWER_LOSS_ROOT");
  std::string saved_ = text_of("POWER_LOSS_SAVED");
  long at_ = std::atol(text_of("POWER_LOSS_AT").c_str());
  long seed_ = std::atol(text_of("POWER_LOSS_SEED").c_str());
  std::recursive_mutex mutex_;
  long changes_ = 0;
  long saved_count_ = 0;
  std::map<Inode, File> files_;
  std::vector<std::function<void()>> names_;
};

/// The directory of a path and the name in it. Owns the descriptor of the directory, which an undo may need later.
struct DirectoryEntry {
  std::shared_ptr<const int> directory;
  std::string name;

  DirectoryEntry(int at, const char* path) {
    const std::string text(path);
    const auto slash = text.rfind('/');
    const auto parent = slash == text.npos ? std::string(".") : slash == 0 ? std::string("/") : text.substr(0, slash);
    name = slash == text.npos ? text : text.substr(slash + 1);
    directory = {new int(REAL(openat)(at, parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), [](const int* opened) {
                   if (*opened >= 0) REAL(close)(*opened);
                   delete opened;
                 }};
  }
  bool is_affected() const { return *directory >= 0 && Disk::get().has_directory(*directory); }
  bool exists() const {
    struct stat status{};
    return ::fstatat(*directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  }
};

/// Makes a change of names, and records how to undo it if `change` succeeds.
int change_names(const DirectoryEntry& entry, const std::function<int()>& change, const std::function<void()>& undo) {
  if (!entry.is_affected()) return change();
  const std::lock_guard lock(Disk::get().mutex());
  Disk::get().count();
  const auto result = change();
  if (result == 0) Disk::get().note_names(undo);
  return result;
}

ssize_t write_at(int descriptor, const void* bytes, std::size_t size, off_t offset,
                 const std::function<ssize_t()>& write) {
  if (!Disk::get().has(descriptor)) return write();
  const std::lock_guard lock(Disk::get().mutex());
  Disk::get().count();
  if (offset < 0) {
    struct stat status{};
    const bool appends = ::fcntl(descriptor, F_GETFL) & O_APPEND;
    offset = appends && ::fstat(descriptor, &status) == 0 ? status.st_size : ::lseek(descriptor, 0, SEEK_CUR);
  }
  Disk::get().note_write(descriptor, offset, std::string(static_cast<const char*>(bytes), size), -1);
  return write();
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  const auto open = [&] { return REAL(openat)(directory, path, flags, mode); };
  if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE) return open();
  const DirectoryEntry entry(directory, path);
  if (!entry.is_affected()) return open();
  const std::lock_guard lock(Disk::get().mutex());
  const bool is_new = !entry.exists();
  if (is_new || (flags & O_TRUNC)) Disk::get().count();
  const int plain = flags & ~O_TRUNC;
  const int opened = REAL(openat)(directory, path, plain, mode);
  if (opened < 0) return opened;
  if (is_new) {
    Disk::get().note_names([entry] { REAL(unlinkat)(*entry.directory, entry.name.c_str(), 0); });
  } else if ((flags & O_TRUNC) && Disk::get().has(opened)) {
    Disk::get().note_size(opened, 0);
    REAL(ftruncate)(opened, 0);
  }
  return opened;
}

int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  const DirectoryEntry source(from_directory, from);
  const DirectoryEntry target(to_directory, to);
  const auto rename = [&] { return REAL(renameat2)(from_directory, from, to_directory, to, flags); };
  if (!source.is_affected() && !target.is_affected()) return rename();
  const std::lock_guard lock(Disk::get().mutex());
  const bool exchanges = flags & RENAME_EXCHANGE;
  const auto saved = exchanges ? std::string() : Disk::get().save(*target.directory, target.name.c_str());
  Disk::get().count();
  const auto result = rename();
  if (result != 0) return result;
  Disk::get().note_names([source, target, saved, exchanges] {
    REAL(renameat2)(*target.directory, target.name.c_str(), *source.directory, source.name.c_str(),
                    exchanges ? RENAME_EXCHANGE : 0);
    if (!saved.empty()) REAL(linkat)(AT_FDCWD, saved.c_str(), *target.directory, target.name.c_str(), 0);
  });
  return result;
}

int remove_at(int directory, const char* path, int flags) {
  const DirectoryEntry entry(directory, path);
  const auto remove = [&] { return REAL(unlinkat)(directory, path, flags); };
  if (flags & AT_REMOVEDIR) {
    return change_names(entry, remove, [entry] { REAL(mkdirat)(*entry.directory, entry.name.c_str(), 0700); });
  }
  if (!entry.is_affected()) return remove();
  const std::lock_guard lock(Disk::get().mutex());
  const auto saved = Disk::get().save(*entry.directory, entry.name.c_str());
  return change_names(entry, remove, [entry, saved] {
    if (!saved.empty()) REAL(linkat)(AT_FDCWD, saved.c_str(), *entry.directory, entry.name.c_str(), 0);
  });
}

int sync_file(int descriptor, const std::function<int()>& sync) {
  const std::lock_guard lock(Disk::get().mutex());
  if (!Disk::get().has(descriptor) && !Disk::get().has_directory(descriptor)) return sync();
  Disk::get().count();
  // A real sync would only take time.
  Disk::get().sync(descriptor);
  return 0;
}

mode_t mode_of(int flags, va_list& arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

__attribute__((destructor)) void end() { Disk::get().end(); }

}  // namespace

#define OPENED(directory, path, flags)         \
  va_list arguments;                           \
  va_start(arguments, flags);                  \
  const auto mode = mode_of(flags, arguments); \
  va_end(arguments);                           \
  return open_at(directory, path, flags, mode)

EXPORTED int open(const char* path, int flags, ...) { OPENED(AT_FDCWD, path, flags); }
EXPORTED int open64(const char* path, int flags, ...) { OPENED(AT_FDCWD, path, flags); }
EXPORTED int openat(int directory, const char* path, int flags, ...) { OPENED(directory, path, flags); }
EXPORTED int openat64(int directory, const char* path, int flags, ...) { OPENED(directory, path, flags); }

EXPORTED ssize_t write(int descriptor, const void* bytes, size_t size) {
  return write_at(descriptor, bytes, size, -1, [=] { return REAL(write)(descriptor, bytes, size); });
}
EXPORTED ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return write_at(descriptor, bytes, size, offset, [=] { return REAL(pwrite)(descriptor, bytes, size, offset); });
}
EXPORTED ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
EXPORTED ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (!Disk::get().has(descriptor)) return REAL(writev)(descriptor, parts, count);
  std::string bytes;
  for (int part = 0; part < count; ++part)
    bytes.append(static_cast<const char*>(parts[part].iov_base), parts[part].iov_len);
  return write(descriptor, bytes.data(), bytes.size());
}
EXPORTED int ftruncate(int descriptor, off_t size) {
  if (!Disk::get().has(descriptor)) return REAL(ftruncate)(descriptor, size);
  const std::lock_guard lock(Disk::get().mutex());
  Disk::get().count();
  Disk::get().note_size(descriptor, size);
  return REAL(ftruncate)(descriptor, size);
}
EXPORTED int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

EXPORTED int fsync(int descriptor) {
  return sync_file(descriptor, [=] { return REAL(fsync)(descriptor); });
}
EXPORTED int fdatasync(int descriptor) {
  return sync_file(descriptor, [=] { return REAL(fdatasync)(descriptor); });
}
EXPORTED int syncfs(int descriptor) {
  const std::lock_guard lock(Disk::get().mutex());
  if (!Disk::get().has_directory(descriptor)) return REAL(syncfs)(descriptor);
  Disk::get().count();
  Disk::get().sync_all();
  return 0;
}

EXPORTED int rename(const char* from, const char* to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORTED int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return rename_at(from_directory, from, to_directory, to, 0);
}
EXPORTED int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  return rename_at(from_directory, from, to_directory, to, flags);
}
EXPORTED int unlink(const char* path) { return remove_at(AT_FDCWD, path, 0); }
EXPORTED int unlinkat(int directory, const char* path, int flags) { return remove_at(directory, path, flags); }
EXPORTED int rmdir(const char* path) { return remove_at(AT_FDCWD, path, AT_REMOVEDIR); }

EXPORTED int mkdirat(int directory, const char* path, mode_t mode) {
  const DirectoryEntry entry(directory, path);
  return change_names(
      entry, [=] { return REAL(mkdirat)(directory, path, mode); },
      [entry] { REAL(unlinkat)(*entry.directory, entry.name.c_str(), AT_REMOVEDIR); });
}
EXPORTED int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

EXPORTED int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  const DirectoryEntry entry(to_directory, to);
  return change_names(
      entry, [=] { return REAL(linkat)(from_directory, from, to_directory, to, flags); },
      [entry] { REAL(unlinkat)(*entry.directory, entry.name.c_str(), 0); });
}
EXPORTED int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORTED int symlinkat(const char* content, int directory, const char* path) {
  const DirectoryEntry entry(directory, path);
  return change_names(
      entry, [=] { return REAL(symlinkat)(content, directory, path); },
      [entry] { REAL(unlinkat)(*entry.directory, entry.name.c_str(), 0); });
}
