#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "features/extensions/outbox.hpp"
#include "io/files/directory.hpp"

namespace agw {

namespace {

constexpr std::size_t max_trash_entries = 100'000;

/// Uses the change time (ctime), because a move updates no other time of a directory.
Timestamp moved_at(const FileStamp& stamp) {
  return Timestamp(std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(stamp.changed_ns)));
}

}  // namespace

void empty_trash(const std::filesystem::path& data_directory, Timestamp oldest) {
  AGW_DEBUG_ASSERT(may_block());

  const auto trash = Directory::open(data_directory / "trash", Symlinks::refuse);
  if (!trash) return;
  const auto entries = trash->list(".", max_trash_entries);
  if (!entries) return log::warn("the trash cannot be listed: {}", to_string(entries.error()));
  for (const auto& entry : *entries) {
    const auto stamp = trash->stamp(entry.name);
    if (!stamp || moved_at(*stamp) >= oldest) continue;
    std::error_code problem;
    std::filesystem::remove_all(trash->real_path() / entry.name, problem);
    if (problem) log::warn("trash/{} cannot be deleted: {}", entry.name, problem.message());
  }
}

}  // namespace agw
