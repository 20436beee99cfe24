// Finds the paths that a sandbox must mask in an exposed directory.
//
// *Private* are files with keys and similar content, by their names, and hard links of those in the home. *Guarded* are
// paths that a command may read but not change, because programs outside of the sandbox execute or obey them:
// `.git/hooks`, `.git/config`, `.agents` and others, in every repository, under any name. *Ancestors* are the
// directories above both: as mounts they cannot be renamed.
//
// The invariant: no name beneath the root that a command can open for writing leads to a guarded file, and no name at
// all leads to a private one; neither by a symlink or hard link nor by a path that does not exist yet.
//
//   1. `visit` reads every directory once and notes what is private or guarded. Symlinks at guarded paths are collected
//      in `links_`.
//   2. Each of them is followed (`guard_target`): the target is guarded as well, with the symlinks in it. A symlink
//      that is passed on the way guards its directory, because nothing can be mounted over it; in the root itself that
//      cannot be done, and the sandbox refuses to start. A missing target is held by a placeholder.
//   3. If guarded files of a repository have other hard links, the tree is read once more for those.
//
// Entries and depth are limited. A larger tree is refused, because parts that were not read could not be masked.

#include "io/sandbox/masked_paths.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/resolve_path.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_entries = 3'000'000;
constexpr std::size_t max_private_files = 5000;
constexpr int max_depth = 500;
constexpr std::size_t max_for_a_file = 200;

/// Valid until the next entry is read.
struct Entry {
  const char* name = nullptr;
  std::uint64_t inode = 0;
  bool is_directory = false;
  bool is_symlink = false;
};

struct stat status_at(int directory, const char* name) {
  struct stat status{};
  ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW);
  return status;
}

FileIdentity identity_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

/// Adds the file if it has several hard links.
void add_linked(FileIdentities& files, int directory, const char* name) {
  const auto status = status_at(directory, name);
  if (S_ISREG(status.st_mode) && status.st_nlink > 1) files.insert(identity_of(status));
}

Entry entry_of(int directory, const dirent& found) {
  Entry entry{.name = found.d_name, .inode = found.d_ino};
  if (found.d_type == DT_UNKNOWN) {
    const auto mode = status_at(directory, entry.name).st_mode;
    entry.is_directory = S_ISDIR(mode);
    entry.is_symlink = S_ISLNK(mode);
  } else {
    entry.is_directory = found.d_type == DT_DIR;
    entry.is_symlink = found.d_type == DT_LNK;
  }
  return entry;
}

/// An open directory and its entries. An unreadable one counts as empty: a sandboxed command cannot read it either. But
/// one for which this process lacks a descriptor or memory at the moment ends the search.
class OpenDirectory {
public:
  OpenDirectory(int parent, const std::string& name)
      : stream_(open(parent, name), [](DIR* stream) {
          if (stream != nullptr) ::closedir(stream);
        }) {}

  int descriptor() const {
    AGW_ASSERT(stream_);
    return ::dirfd(stream_.get());
  }

  bool holds_repository() const { return stream_ && agw::holds_repository(descriptor()); }

  void each(const std::function<void(const Entry&)>& visit) {
    if (!stream_) return;
    while (const auto* found = ::readdir(stream_.get())) {
      const std::string_view name = found->d_name;
      if (name != "." && name != "..") visit(entry_of(descriptor(), *found));
    }
  }

private:
  static DIR* open(int parent, const std::string& name) {
    Descriptor opened(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    DIR* stream = opened ? ::fdopendir(opened.get()) : nullptr;
    if (stream != nullptr) {
      opened.release();
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      throw std::system_error(errno, std::generic_category(), "cannot look for private files");
    }
    return stream;
  }

  std::unique_ptr<DIR, void (*)(DIR*)> stream_;
};

class Search {
public:
  Search(fs::path root, const fs::path& without, const FileIdentities& linked)
      : root_(std::move(root)), without_(without), without_name_(without.filename().string()), linked_(linked) {
    for (const auto& [device, inode] : linked) linked_inodes_.insert(inode);
  }

  /// Call it once.
  MaskedPaths run() {
    AGW_ASSERT(entries_ == 0);
    visit(AT_FDCWD, root_.string());
    AGW_ASSERT(names_.empty());
    for (std::size_t next = 0; next < links_.size(); ++next) guard_target(fs::path(links_[next]));
    if (!guarded_files_.empty()) guard_other_names(AT_FDCWD, root_);
    return std::move(found_);
  }

private:
  fs::path current_path() const {
    auto path = root_;
    for (const auto& part : names_) path /= part;
    return path;
  }
  fs::path path_to(const std::string& name) const { return current_path() / name; }

  void visit(int parent, const std::string& name) {
    OpenDirectory directory(parent, name);
    if (directory.holds_repository()) mark_repository();
    const auto here = current_state();
    std::vector<std::string> below;
    directory.each([&](const Entry& entry) {
      if (++entries_ > max_entries)
        throw std::runtime_error(fmt::format("{} holds too many files to look for private ones", root_.string()));
      if (is_masked(directory.descriptor(), entry, here)) return;
      if (entry.is_directory) below.emplace_back(entry.name);
    });
    for (auto& each : below) descend(directory.descriptor(), std::move(each));
  }

  /// A directory `.git` was already marked by its name. A repository within it, such as a submodule's, has its own
  /// hooks.
  void mark_repository() {
    const bool is_known = !names_.empty() && names_.back() == ".git";
    const bool is_submodule = !is_known && way_.is_in_repository() && !way_.is_guarded();
    if (way_.mark_repository() || is_submodule) note_current(found_.repositories);
  }

  void descend(int parent, std::string name) {
    const bool objects_of_git = name == "objects" && !names_.empty() && names_.back() == ".git";
    if (objects_of_git || (name == without_name_ && path_to(name) == without_)) return;
    if (static_cast<int>(names_.size()) == max_depth)
      throw std::runtime_error(fmt::format("{} is too deep to look for private files", root_.string()));
    const auto depth = names_.size();
    auto way_here = way_;
    way_.enter(name);
    names_.push_back(std::move(name));
    visit(parent, names_.back());
    AGW_ASSERT(names_.size() == depth + 1);
    names_.pop_back();
    way_ = std::move(way_here);
  }

  /// Properties common to all entries of a directory.
  struct DirectoryLevel {
    std::string name;
    bool in_repository;
  };
  DirectoryLevel current_state() const {
    return {.name = names_.empty() ? root_.filename().string() : names_.back(),
            .in_repository = way_.is_in_repository()};
  }

  /// Records what must be masked; returns true if nothing beneath the entry needs a separate check.
  bool is_masked(int directory, const Entry& entry, const DirectoryLevel& here) {
    const std::string_view name = entry.name;
    if (entry.is_symlink) {
      const bool stands_for_one = may_be_guarded(name, here) && way_.guards(entry.name);
      if (way_.is_guarded() || stands_for_one) links_.push_back(path_to(entry.name));
      // Nothing can be mounted over a symlink to protect it, so its directory is guarded.
      if (stands_for_one && !names_.empty()) note_current(found_.guarded);
      return true;
    }
    if (is_private_name(here.name, name) || is_linked(directory, entry)) {
      note(entry.is_directory ? found_.private_directories : found_.private_files, entry.name);
      return true;
    }
    if (way_.is_guarded()) note_hard_links(directory, entry);
    if (!may_be_guarded(name, here)) return false;
    if (name == ".git" && entry.is_directory) {
      note(found_.repositories, entry.name);
    } else if (way_.guards(entry.name)) {
      note(found_.guarded, entry.name);
      note_hard_links(directory, entry);
    }
    return false;
  }

  /// A guarded file of a repository must not be writable under another name. In `.agents` there may be thousands of
  /// hard links, created by package managers.
  void note_hard_links(int directory, const Entry& entry) {
    if (!entry.is_directory && way_.is_in_repository()) add_linked(guarded_files_, directory, entry.name);
  }

  void guard_other_names(int parent, const fs::path& path) {
    OpenDirectory directory(parent, parent == AT_FDCWD ? path.string() : path.filename().string());
    directory.each([&](const Entry& entry) {
      if (entry.is_symlink) return;
      auto other = path / entry.name;
      if (entry.is_directory) {
        if (other != without_) guard_other_names(directory.descriptor(), other);
      } else if (guarded_files_.contains(identity_of(status_at(directory.descriptor(), entry.name)))) {
        guard(std::move(other));
      }
    });
  }

  /// A quick check: most names need no further one.
  bool may_be_guarded(std::string_view name, const DirectoryLevel& here) const {
    return !way_.is_guarded() && (here.in_repository || name.starts_with('.'));
  }

  /// Guards the target of a symlink at a guarded path if the command can write to it.
  void guard_target(const fs::path& link) {
    const auto target = resolve_path(link, [&](const fs::path& passed) {
      if (passed != link && may_be_written(passed)) guard_link(passed);
    });
    std::error_code missing;
    if (fs::is_symlink(target, missing) || target == root_ || !may_be_written(target)) return;
    if (!fs::exists(target, missing)) {
      guard_missing(target);
    } else if (guard(target)) {
      follow_links_in(target, 0);
    }
  }

  bool may_be_written(const fs::path& path) const {
    // An agent's workspace is scanned although it lies within the excluded directory.
    const bool is_left_out = is_within(path, without_) && !is_within(root_, without_);
    return is_within(path, root_) && !is_left_out;
  }

  /// Guards the directory of a symlink, because nothing can be mounted over the symlink itself.
  void guard_link(const fs::path& link) {
    if (link.parent_path() == root_) {
      found_.passed.push_back(link);
    } else {
      guard(link.parent_path());
    }
  }

  void guard_missing(fs::path path) {
    std::error_code unknown;
    auto* list = &found_.missing;
    for (; !fs::exists(path.parent_path(), unknown); path = path.parent_path()) list = &found_.missing_parents;
    if (!is_known(path)) note_path(*list, std::move(path));
  }

  /// Returns false if the path is already guarded or not exposed.
  bool guard(fs::path path) {
    AGW_DEBUG_ASSERT(path.is_absolute());
    if (is_known(path)) return false;
    note_path(found_.guarded, std::move(path));
    return true;
  }

  bool is_known(const fs::path& path) const {
    const auto covers = [&](const fs::path& place) { return is_within(path, place); };
    return std::ranges::any_of(found_.private_directories, covers) ||
           std::ranges::any_of(found_.private_files, covers) || std::ranges::any_of(found_.guarded, covers);
  }

  void follow_links_in(const fs::path& guarded, int depth) {
    AGW_ASSERT(depth <= max_depth);
    OpenDirectory directory(AT_FDCWD, guarded.string());
    directory.each([&](const Entry& entry) {
      if (entry.is_symlink) links_.push_back(guarded / entry.name);
      if (entry.is_directory && depth < max_depth) follow_links_in(guarded / entry.name, depth + 1);
    });
  }

  bool is_linked(int directory, const Entry& entry) const {
    return linked_inodes_.contains(entry.inode) && linked_.contains(identity_of(status_at(directory, entry.name)));
  }

  void note(std::vector<fs::path>& list, const std::string& name) { note_path(list, path_to(name)); }
  void note_current(std::vector<fs::path>& list) { note_path(list, current_path()); }

  void note_path(std::vector<fs::path>& list, fs::path path) {
    // A command that runs at the same time may replace the root by a symlink, or move it.
    if (!is_within(path, root_)) throw std::runtime_error(root_.string() + " was moved or replaced meanwhile");
    list.push_back(std::move(path));
    if (list.back() == root_) return;
    for (auto above = list.back().parent_path(); above != root_; above = above.parent_path()) {
      if (contains(found_.ancestors, above)) break;
      found_.ancestors.push_back(above);
    }
  }

  fs::path root_;
  const fs::path& without_;
  std::string without_name_;
  const FileIdentities& linked_;
  std::set<std::uint64_t> linked_inodes_;
  MaskedPaths found_;
  FileIdentities guarded_files_;    ///< files with several hard links
  std::vector<fs::path> links_;     ///< symlinks at guarded paths, and guarded paths where a symlink could be created
  std::vector<std::string> names_;  ///< from the root to the current directory
  GuardedPathTracker way_;          ///< tracks the same path
  std::size_t entries_ = 0;
};

/// Finds only symlinks, and only nearby, so that it takes no longer than writing a file.
class TargetSearch {
public:
  TargetSearch(const fs::path& root, const fs::path& file) : root_(root), file_(file.native()) {
    ahead_.push_back({root.native(), {}});
  }

  std::vector<fs::path> run() {
    for (std::size_t looked = 0; !ahead_.empty() && looked < max_for_a_file; ++looked) {
      const auto next = std::move(ahead_.front());
      ahead_.pop_front();
      visit(next.path, next.way);
    }
    return std::move(found_);
  }

private:
  struct PendingDirectory {
    std::string path;
    GuardedPathTracker way;
  };

  void visit(const std::string& path, GuardedPathTracker way) {
    OpenDirectory directory(AT_FDCWD, path);
    const bool is_repository = directory.holds_repository();
    if (is_repository) way.mark_repository();
    directory.each([&](const Entry& entry) {
      const std::string_view name = entry.name;
      if (is_repository && (name == "objects" || name == "refs" || name == "logs")) return;
      if (entry.is_symlink && (way.is_guarded() || way.guards(entry.name))) note(fs::path(path) / name);
      if (entry.is_directory) enqueue(path + "/" + entry.name, way, entry.name);
    });
  }

  void enqueue(std::string path, GuardedPathTracker way, const std::string& name) {
    AGW_ASSERT(path.size() > root_.native().size());
    way.enter(name);
    if (way.is_guarded() || way.is_in_repository() || file_.starts_with(path)) {
      ahead_.push_front({std::move(path), std::move(way)});
    } else if (ahead_.size() < max_for_a_file) {
      ahead_.push_back({std::move(path), std::move(way)});
    }
  }

  void note(const fs::path& link) {
    auto target = resolve_path(link);
    const bool is_known = contains(found_, target);
    if (is_known || target == root_ || !is_within(target, root_)) return;
    GuardedPathTracker guarded;
    guarded.enter(".agents");
    AGW_ASSERT(guarded.is_guarded());
    ahead_.push_front({target.native(), std::move(guarded)});
    found_.push_back(std::move(target));
  }

  const fs::path& root_;
  std::string_view file_;
  std::deque<PendingDirectory> ahead_;
  std::vector<fs::path> found_;
};

/// Collects private files with several hard links. Beneath a private directory everything is private.
class LinkedFiles {
public:
  void add_all(int parent, const std::string& name, int depth) {
    AGW_ASSERT(depth > 0);
    AGW_ASSERT(depth <= depth_in_home);
    OpenDirectory directory(parent, name);
    directory.each([&](const Entry& entry) {
      if (++seen_ > max_private_files) return;
      take(directory.descriptor(), entry);
      if (entry.is_directory && depth > 1) add_all(directory.descriptor(), entry.name, depth - 1);
    });
  }

  /// Adds the files in `path` that are private by their names.
  void add_private(const fs::path& path) {
    OpenDirectory directory(AT_FDCWD, path.string());
    directory.each([&](const Entry& entry) {
      if (!is_private_name(path.filename().string(), entry.name)) return;
      take(directory.descriptor(), entry);
      if (!entry.is_directory) return;
      add_all(directory.descriptor(), entry.name, is_restore_name(entry.name) ? 1 : depth_in_home);
    });
  }

  /// Adds only direct entries of the directory.
  void add_files(const fs::path& path) { add_all(AT_FDCWD, path.string(), 1); }

  FileIdentities take() { return std::move(found_); }

private:
  static constexpr int depth_in_home = 5;

  void take(int directory, const Entry& entry) {
    if (!entry.is_directory && !entry.is_symlink) add_linked(found_, directory, entry.name);
  }

  FileIdentities found_;
  std::size_t seen_ = 0;
};

}  // namespace

FileIdentities hard_linked_private_files(const fs::path& home, const fs::path& data_directory) {
  AGW_DEBUG_ASSERT(may_block());

  LinkedFiles files;
  files.add_files(data_directory);
  files.add_private(home);
  files.add_private(home / ".config");
  return files.take();
}

MaskedPaths masked_paths(const fs::path& root, const fs::path& without, const FileIdentities& linked) {
  AGW_DEBUG_ASSERT(may_block());

  auto found = Search(root, without, linked).run();
  AGW_DEBUG_ASSERT(std::ranges::all_of(found.ancestors, [&](const auto& each) { return is_within(each, root); }));
  AGW_DEBUG_ASSERT(std::ranges::all_of(found.guarded, [&](const auto& each) { return is_within(each, root); }));
  return found;
}

std::vector<fs::path> guarded_targets(const fs::path& root, const fs::path& file) {
  AGW_DEBUG_ASSERT(may_block());

  return TargetSearch(root, file).run();
}

}  // namespace agw
