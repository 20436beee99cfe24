#include "features/checkpoints/origins.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/entry_state.hpp"

namespace agw {

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// The limits of a search in directories that were not listed. If it reaches them, the directory counts as changed.
struct SearchLimits {
  std::size_t names = 50'000;
  int depth = 200;
};

/// Allows for file systems whose timestamps have a resolution of one or two seconds.
bool may_be_since(std::int64_t time, std::int64_t since) {
  return time >= since - (time % second == 0 ? 2 * second : 0);
}

/// For a directory that cannot be read: whether its change time is recent, because the command itself may have removed
/// the permission to read it.
bool may_entry_have_changed(int parent, const char* name, std::int64_t since) {
  struct stat status{};
  if (::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return true;
  return may_be_since(status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec, since);
}

/// Whether names may have been added to or removed from a directory, or one below it, since that time.
bool has_names_changed(int parent, const char* name, std::int64_t since, SearchLimits& left) {
  if (left.depth == 0) return true;
  Descriptor opened(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  // If this user could not read the directory since then, neither could a command of this user move anything out of it.
  if (!opened) return errno != EACCES || may_entry_have_changed(parent, name, since);
  if (may_be_since(stat_opened(opened.get(), name).stamp.changed_ns, since)) return true;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened.get()), ::closedir);
  if (!stream) return true;
  const int directory = opened.release();
  while (const auto* entry = ::readdir(stream.get())) {
    const std::string_view inner = entry->d_name;
    if (inner == "." || inner == ".." || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)) continue;
    if (left.names-- == 0) return true;
    const bool is_directory =
        entry->d_type == DT_DIR || stat_entry(directory, entry->d_name, name).kind == EntryKind::directory;
    if (!is_directory) continue;
    --left.depth;
    if (has_names_changed(directory, entry->d_name, since, left)) return true;
    ++left.depth;
  }
  return false;
}

bool is_kept(const ListedEntry& entry) { return entry.kept == Kept::yes || entry.state.kind == EntryKind::directory; }

}  // namespace

void Origins::index() {
  if (std::exchange(is_indexed_, true)) return;
  for (const auto& tree : before_) {
    AGW_ASSERT(tree->is_complete || tree->directories.empty());
    for (const auto& directory : tree->directories) {
      const auto place = tree->root / directory->path;
      for (const auto& entry : directory->entries) {
        const auto& stamp = entry.state.stamp;
        by_inode_.emplace(stamp.inode, Place{(place / entry.name).string(), &entry});
        if (entry.state.kind == EntryKind::file)
          (is_kept(entry) ? kept_ : not_kept_).emplace(stamp.size, stamp.modified_ns);
      }
    }
  }
}

bool Origins::may_have_left_skipped() {
  if (has_skipped_changed_) return *has_skipped_changed_;
  SearchLimits left;
  const auto has_changed = [&](const std::filesystem::path& path) {
    return path.filename() != ".git" && has_names_changed(AT_FDCWD, path.c_str(), began_, left);
  };
  has_skipped_changed_ = std::ranges::any_of(before_, [&](const auto& tree) {
    return std::ranges::any_of(tree->skipped,
                               [&](const auto& skipped) { return has_changed(tree->root / skipped.first); });
  });
  return *has_skipped_changed_;
}

Origin Origins::of(const EntryAccess& access, const ListedEntry& entry) {
  AGW_DEBUG_ASSERT(may_block());

  const auto& stamp = entry.state.stamp;
  const auto born = access.directory() ? birth_of(access.directory()->descriptor(), entry.name, stamp) : std::nullopt;
  const auto made_at = born.value_or(stamp.modified_ns);
  if (may_be_since(made_at, began_)) {
    if (entry.state.kind != EntryKind::file || stamp.size == 0 || stamp.modified_ns >= began_) return {};
    // Between mounts, of which a sandbox has many, `mv` copies a file and preserves its modification time.
    index();
    const std::pair file(stamp.size, stamp.modified_ns);
    const bool may_be_moved = not_kept_.contains(file) || (!kept_.contains(file) && may_have_left_skipped());
    return {.kind = may_be_moved ? Origin::Kind::moved_in : Origin::Kind::made};
  }
  index();
  const auto found = by_inode_.find(stamp.inode);
  if (found == by_inode_.end() || found->second.entry->state.device != entry.state.device ||
      found->second.entry->state.kind != entry.state.kind) {
    return {.kind = Origin::Kind::moved_in};
  }
  const auto& [path, former] = found->second;
  return {.kind = is_kept(*former) ? Origin::Kind::moved : Origin::Kind::moved_in, .path = path, .former = former};
}

}  // namespace agw
