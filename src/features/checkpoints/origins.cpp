#include "features/checkpoints/origins.hpp"

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::int64_t second = 1'000'000'000;

bool is_kept(const ListedEntry& entry) { return entry.kept == Kept::yes || entry.state.kind == EntryKind::directory; }

}  // namespace

void Origins::index() {
  if (std::exchange(is_indexed_, true)) return;
  for (const auto& tree : before_) {
    for (const auto& directory : tree->directories) {
      const auto place = tree->root / directory->path;
      for (const auto& entry : directory->entries) {
        const auto& stamp = entry.state.stamp;
        by_inode_.emplace(stamp.inode, Place{(place / entry.name).string(), &entry});
        if (!is_kept(entry) && entry.state.kind == EntryKind::file) not_kept_.emplace(stamp.size, stamp.modified_ns);
      }
    }
  }
}

Origin Origins::of(const EntryAccess& access, const ListedEntry& entry) {
  AGW_ASSERT(may_block());

  const auto& stamp = entry.state.stamp;
  const auto born = access.directory() ? birth_of(access.directory()->descriptor(), entry.name, stamp) : std::nullopt;
  const auto made_at = born.value_or(stamp.modified_ns);
  // Some file systems keep no fractions of a second, or of two.
  if (made_at >= began_ - (made_at % second == 0 ? 2 * second : 0)) {
    if (entry.state.kind != EntryKind::file || stamp.size == 0 || stamp.modified_ns >= began_) return {};
    // Between two file systems, `mv` copies a file with its time.
    index();
    return {.kind = not_kept_.contains({stamp.size, stamp.modified_ns}) ? Origin::Kind::moved_in : Origin::Kind::made};
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
