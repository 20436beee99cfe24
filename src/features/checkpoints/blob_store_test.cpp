#include "features/checkpoints/blob_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using testing::ScratchDirectory;

constexpr std::uint64_t plenty = std::uint64_t{1} << 30;

/// Random content, which hardly compresses.
std::string noise(std::size_t size, unsigned seed) {
  std::string text(size, '\0');
  for (auto& c : text) {
    seed = seed * 1664525u + 1013904223u;
    c = static_cast<char>(seed >> 24);
  }
  return text;
}

TEST(BlobStore, ReturnsWhatWasPut) {
  const ScratchDirectory scratch;
  BlobStore store(scratch.path() / "checkpoints", plenty);
  for (const auto& content : {std::string(), std::string("hello\n"), noise(3'000'000, 1), std::string(100'000, '\0')}) {
    const auto name = store.put(content);
    EXPECT_EQ(name, blob_name(content));
    EXPECT_EQ(store.get(name), content);
  }
  EXPECT_EQ(store.usage().files, 4u);
  EXPECT_EQ(store.get(blob_name("never put")), std::nullopt);
  EXPECT_EQ(store.get("../../etc/passwd"), std::nullopt);
}

TEST(BlobStore, KeepsEachContentOnceAndFindsItAfterARestart) {
  const ScratchDirectory scratch;
  const auto directory = scratch.path() / "checkpoints";
  {
    BlobStore store(directory, plenty);
    store.put("same");
    store.put("same");
    EXPECT_EQ(store.usage().files, 1u);
  }
  BlobStore store(directory, plenty);
  EXPECT_EQ(store.get(blob_name("same")), "same");
  EXPECT_EQ(std::filesystem::status(directory).permissions(), std::filesystem::perms::owner_all);
}

TEST(BlobStore, WritesAContentAgainThatLostPowerCouldTake) {
  const ScratchDirectory scratch;
  const auto directory = scratch.path() / "checkpoints";
  const auto lose = [&](const std::string& name) { std::ofstream(directory / name) << "lost"; };
  const auto name = blob_name("the content");
  {
    BlobStore store(directory, plenty);
    store.put("the content", Durability::later);
    lose(name);
    store.put("the content");
    EXPECT_EQ(store.get(name), "the content") << "stored before without a sync";
  }
  lose(name);
  BlobStore store(directory, plenty);
  store.put("the content");
  EXPECT_EQ(store.get(name), "the content") << "stored by another process";
  EXPECT_EQ(store.usage().files, 1u);
}

TEST(BlobStore, WritesNothingAgainThatIsOnDisk) {
  const ScratchDirectory scratch;
  const auto directory = scratch.path() / "checkpoints";
  const auto inode_of = [&](const std::string& name) {
    struct stat status{};
    return ::stat((directory / name).c_str(), &status) == 0 ? status.st_ino : 0;
  };
  BlobStore store(directory, plenty);
  const auto first = store.put("first");
  const auto second = store.put("second", Durability::later);
  const auto before = std::pair(inode_of(first), inode_of(second));
  store.sync();
  store.put("first");
  store.put("second");
  EXPECT_EQ(std::pair(inode_of(first), inode_of(second)), before);
}

TEST(BlobStore, IsCertainOnlyOfWhatIsOnDisk) {
  const ScratchDirectory scratch;
  const auto directory = scratch.path() / "checkpoints";
  const auto now = blob_name("now");
  const auto later = blob_name("later");
  {
    BlobStore store(directory, plenty);
    EXPECT_FALSE(store.is_certainly_kept(now));
    store.put("now");
    store.put("later", Durability::later);
    EXPECT_TRUE(store.is_certainly_kept(now));
    EXPECT_FALSE(store.is_certainly_kept(later));
    store.sync();
    EXPECT_TRUE(store.is_certainly_kept(later));
  }
  BlobStore store(directory, plenty);
  EXPECT_TRUE(store.has(now));
  EXPECT_FALSE(store.is_certainly_kept(now)) << "stored by another process";
}

TEST(BlobStore, DeletesWhatWasNotUsedForLongestBeyondItsLimit) {
  const ScratchDirectory scratch;
  BlobStore store(scratch.path() / "checkpoints", 250'000);
  const auto first = store.put(noise(100'000, 1));
  const auto second = store.put(noise(100'000, 2));
  EXPECT_TRUE(store.has(first));
  store.put(noise(100'000, 3));
  EXPECT_TRUE(store.has(first));
  EXPECT_FALSE(store.has(second));
  EXPECT_LE(store.usage().bytes, 250'000u);
}

TEST(BlobStore, DeletesNothingThatIsInUse) {
  const ScratchDirectory scratch;
  BlobStore store(scratch.path() / "checkpoints", 250'000);
  const auto old = store.put(noise(100'000, 1));
  const BlobStore::Use use(store);
  const auto first = store.put(noise(100'000, 2));
  EXPECT_TRUE(store.has_room_for(100'000));
  const auto second = store.put(noise(100'000, 3));
  EXPECT_FALSE(store.has_room_for(100'000));
  store.put(noise(100'000, 4));
  EXPECT_FALSE(store.has(old));
  EXPECT_TRUE(store.has(first));
  EXPECT_TRUE(store.has(second));
}

TEST(BlobStore, ReturnsNoDamagedContent) {
  const ScratchDirectory scratch;
  BlobStore store(scratch.path() / "checkpoints", plenty);
  const auto name = store.put("the content");
  const auto other = store.put("another");
  std::filesystem::copy_file(scratch.path() / "checkpoints" / other, scratch.path() / "checkpoints" / name,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(store.get(name), std::nullopt);
  std::ofstream(scratch.path() / "checkpoints" / other) << "no zstd";
  EXPECT_EQ(store.get(other), std::nullopt);
}

TEST(BlobStore, PrunesByAge) {
  const ScratchDirectory scratch;
  BlobStore store(scratch.path() / "checkpoints", plenty);
  const auto name = store.put("old");
  store.prune(SystemClock().now() - std::chrono::hours(1));
  EXPECT_TRUE(store.has(name));
  store.prune(SystemClock().now() + std::chrono::hours(1));
  EXPECT_FALSE(store.has(name));
}

}  // namespace
}  // namespace agw
