#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/files/atomic_file.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// Contents of files in `{data_dir}/checkpoints/`, each compressed with zstd and named by its SHA-256 in hex. When the
/// directory exceeds its limit, the least recently used contents are deleted. All functions block, may be called from
/// any thread, and throw std::system_error, including for a full disk.
/// Example: src/features/checkpoints/blob_store_test.cpp: BlobStore.ReturnsWhatWasPut
class BlobStore {
public:
  BlobStore(std::filesystem::path directory, std::uint64_t limit);

  /// While it exists, no content that was put or found since its creation is deleted.
  class Use {
  public:
    explicit Use(BlobStore& store);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

  private:
    BlobStore& store_;
    std::uint64_t since_;
  };

  /// Stores the content, unless it is stored already, and returns its name. With `later`, the content is durable after
  /// `sync`; otherwise, on return, even if it had been stored with `later` or by another process.
  std::string put(std::string_view content, Durability durability = Durability::now);
  /// The content; no value if it is not stored or is damaged.
  std::optional<std::string> get(const std::string& name);
  /// Whether the content is stored. Counts as a use.
  bool has(const std::string& name);
  /// Whether the content is certainly stored and on disk. Counts as a use. Does not block: if another thread uses the
  /// store, returns false.
  bool is_certainly_kept(const std::string& name);
  void sync();

  /// Whether the store has used more than half of its limit.
  bool is_half_full();
  /// How many contents were deleted since the start.
  std::uint64_t evictions();
  /// Whether `bytes` more can be stored without deleting contents that a `Use` protects.
  bool has_room_for(std::uint64_t bytes);
  /// Deletes contents that were last used before `oldest`.
  void prune(Timestamp oldest);

  struct Usage {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
  };
  Usage usage();

private:
  struct Entry {
    std::uint64_t size = 0;
    std::uint64_t used = 0;    ///< value of `clock_` at the last use
    std::uint64_t stored = 0;  ///< value of `clock_` when it was stored; 0 if it is known to be on disk
    std::int64_t touched = 0;  ///< modification time of the file, in seconds
  };

  void load();
  const Directory& directory();
  bool touch(const std::string& name);
  bool is_on_disk(const std::string& name) const;
  void add(const std::string& name, std::uint64_t size, Durability durability);
  void make_room();
  void assert_invariants() const;
  void remove(const std::string& name);

  const std::filesystem::path path_;
  const std::uint64_t limit_;
  std::mutex mutex_;
  std::optional<Directory> directory_;
  std::unordered_map<std::string, Entry> entries_;
  std::map<std::uint64_t, std::string> by_use_;
  std::multiset<std::uint64_t> uses_;
  std::uint64_t bytes_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t synced_ = 0;  ///< contents stored up to this value of `clock_` are on disk
  std::uint64_t evictions_ = 0;
};

/// The name of a content: its SHA-256 in hex.
std::string blob_name(std::string_view content);

}  // namespace agw
