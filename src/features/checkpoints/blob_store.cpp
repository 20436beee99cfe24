#include "features/checkpoints/blob_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "io/files/zstd.hpp"

namespace agw {

namespace {

/// The fastest level, because a tool waits for the compression before it replaces the file.
constexpr int compression_level = 1;
constexpr std::size_t name_length = 64;
constexpr std::size_t max_content_size = std::size_t{1024} * 1024 * 1024;
/// In seconds. Each use of a file updates its time, but not more often than this.
constexpr std::int64_t time_to_touch = 3600;

bool is_blob_name(std::string_view name) {
  return name.size() == name_length && name.find_first_not_of("0123456789abcdef") == name.npos;
}

template <class T>
T require(FileResult<T> result, const std::string& what) {
  if (!result)
    throw std::system_error(EIO, std::generic_category(), what + ": " + std::string(to_string(result.error())));
  return *std::move(result);
}

}  // namespace

std::string blob_name(std::string_view content) { return to_hex(sha256(content)); }

BlobStore::BlobStore(std::filesystem::path directory, std::uint64_t limit)
    : path_(std::move(directory)), limit_(limit) {}

BlobStore::Use::Use(BlobStore& store) : store_(store), since_(0) {
  const std::scoped_lock lock(store_.mutex_);
  since_ = ++store_.clock_;
  AGW_ASSERT(store_.uses_.empty() || *store_.uses_.rbegin() < since_);
  store_.uses_.insert(since_);
}

BlobStore::Use::~Use() {
  const std::scoped_lock lock(store_.mutex_);
  AGW_ASSERT(store_.uses_.contains(since_));
  store_.uses_.extract(since_);
}

void BlobStore::load() {
  AGW_DEBUG_ASSERT(may_block());

  if (directory_) return;
  std::error_code failed;
  std::filesystem::create_directory(path_, failed);
  if (!failed) std::filesystem::permissions(path_, std::filesystem::perms::owner_all, failed);
  if (failed) throw std::system_error(failed, "cannot make " + path_.string());
  auto opened = require(Directory::open(path_, Symlinks::refuse), "cannot open " + path_.string());
  std::vector<std::pair<std::string, Entry>> found;
  [[maybe_unused]] const auto visited = opened.visit(".", [&](DirectoryEntry entry) {
    struct stat status{};
    const bool is_blob = is_blob_name(entry.name) && entry.type == FileType::regular;
    // Ignores empty files, which a crash of the machine can leave.
    if (is_blob && ::fstatat(opened.descriptor(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_size > 0) {
      found.emplace_back(std::move(entry.name),
                         Entry{.size = static_cast<std::uint64_t>(status.st_size), .touched = status.st_mtim.tv_sec});
    }
    return true;
  });
  AGW_ASSERT(entries_.empty() && by_use_.empty() && bytes_ == 0);
  std::ranges::sort(found, {}, [](const auto& each) { return each.second.touched; });
  for (auto& [name, entry] : found) {
    entry.used = entry.stored = ++clock_;
    // A directory that changes meanwhile may list a name twice.
    if (!entries_.emplace(name, entry).second) continue;
    bytes_ += entry.size;
    by_use_.emplace(entry.used, name);
  }
  directory_ = std::move(opened);
  assert_invariants();
}

void BlobStore::assert_invariants() const {
  AGW_ASSERT(entries_.size() == by_use_.size());
  AGW_ASSERT(entries_.empty() == (bytes_ == 0));
  AGW_ASSERT(by_use_.empty() || by_use_.rbegin()->first <= clock_);
  AGW_ASSERT(uses_.empty() || *uses_.rbegin() <= clock_);
  AGW_ASSERT(synced_ <= clock_);
}

const Directory& BlobStore::directory() {
  load();
  return *directory_;
}

bool BlobStore::touch(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return false;
  auto& entry = found->second;
  const auto moved = by_use_.erase(entry.used);
  AGW_ASSERT(moved == 1);
  entry.used = ++clock_;
  by_use_.emplace(entry.used, name);
  if (const auto now = std::time(nullptr); now - entry.touched > time_to_touch) {
    if (::utimensat(directory().descriptor(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
      AGW_ASSERT(bytes_ >= entry.size);
      bytes_ -= entry.size;
      by_use_.erase(entry.used);
      entries_.erase(found);
      return false;
    }
    entry.touched = now;
  }
  assert_invariants();
  return true;
}

bool BlobStore::is_on_disk(const std::string& name) const {
  const auto& entry = entries_.at(name);
  AGW_ASSERT(entry.stored <= entry.used);
  return entry.stored <= synced_;
}

void BlobStore::add(const std::string& name, std::uint64_t size, Durability durability) {
  if (touch(name)) {
    if (durability == Durability::now) entries_.at(name).stored = 0;
    return;
  }
  AGW_ASSERT(is_blob_name(name));
  AGW_ASSERT(size > 0);
  ++clock_;
  const Entry entry{.size = size,
                    .used = clock_,
                    .stored = durability == Durability::now ? 0 : clock_,
                    .touched = std::time(nullptr)};
  bytes_ += size;
  by_use_.emplace(entry.used, name);
  entries_.emplace(name, entry);
  assert_invariants();
  make_room();
}

void BlobStore::make_room() {
  const auto in_use = uses_.empty() ? clock_ + 1 : *uses_.begin();
  while (bytes_ > limit_ && !by_use_.empty() && by_use_.begin()->first < in_use) {
    remove(std::string(by_use_.begin()->second));
  }
}

void BlobStore::remove(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  AGW_ASSERT(bytes_ >= found->second.size);
  // A content that is in use is never deleted.
  AGW_ASSERT(uses_.empty() || found->second.used < *uses_.begin());
  [[maybe_unused]] const auto removed = directory().remove(name);
  ++evictions_;
  bytes_ -= found->second.size;
  by_use_.erase(found->second.used);
  entries_.erase(found);
  assert_invariants();
}

std::string BlobStore::put(std::string_view content, Durability durability) {
  auto name = blob_name(content);
  int opened = 0;
  {
    const std::scoped_lock lock(mutex_);
    opened = directory().descriptor();
    if (touch(name) && (durability == Durability::later || is_on_disk(name))) return name;
  }
  AGW_ASSERT(is_blob_name(name));
  const auto packed = zstd_compressed(content, compression_level);
  replace_file_in(opened, name, packed, 0600, path_ / name, durability);
  const std::scoped_lock lock(mutex_);
  add(name, packed.size(), durability);
  return name;
}

std::optional<std::string> BlobStore::get(const std::string& name) {
  {
    const std::scoped_lock lock(mutex_);
    load();
    if (!touch(name)) return std::nullopt;
  }
  const auto packed = directory_->read(name, max_content_size);
  if (!packed) return std::nullopt;
  auto content = zstd_decompressed(*packed, max_content_size);
  if (!content || blob_name(*content) != name) return std::nullopt;
  return content;
}

bool BlobStore::has(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  load();
  return touch(name);
}

bool BlobStore::is_certainly_kept(const std::string& name) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  const auto found = entries_.find(name);
  if (found == entries_.end() || !is_on_disk(name)) return false;
  return std::time(nullptr) - found->second.touched <= time_to_touch && touch(name);
}

void BlobStore::sync() {
  AGW_DEBUG_ASSERT(may_block());

  const Directory* opened = nullptr;
  std::uint64_t until = 0;
  {
    const std::scoped_lock lock(mutex_);
    opened = &directory();
    until = clock_;
  }
  opened->sync();
  const std::scoped_lock lock(mutex_);
  synced_ = std::max(synced_, until);
  assert_invariants();
}

std::uint64_t BlobStore::evictions() {
  const std::scoped_lock lock(mutex_);
  return evictions_;
}

bool BlobStore::is_half_full() {
  const std::scoped_lock lock(mutex_);
  load();
  return bytes_ > limit_ / 2;
}

bool BlobStore::has_room_for(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  load();
  const auto in_use = uses_.empty() ? clock_ + 1 : *uses_.begin();
  auto left = bytes_;
  for (const auto& [used, name] : by_use_) {
    if (left + bytes <= limit_) return true;
    if (used >= in_use) return false;
    AGW_ASSERT(left >= entries_.at(name).size);
    left -= entries_.at(name).size;
  }
  return left + bytes <= limit_;
}

void BlobStore::prune(Timestamp oldest) {
  const std::scoped_lock lock(mutex_);
  load();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(oldest.time_since_epoch()).count();
  std::vector<std::string> old;
  for (const auto& [name, entry] : entries_) {
    if (entry.touched < seconds && (uses_.empty() || entry.used < *uses_.begin())) old.push_back(name);
  }
  for (const auto& name : old) remove(name);
  make_room();
}

BlobStore::Usage BlobStore::usage() {
  const std::scoped_lock lock(mutex_);
  load();
  return {.files = entries_.size(), .bytes = bytes_};
}

}  // namespace agw
