#include <system_error>
#include <vector>

#include "base/async/assert.hpp"
#include "io/files/atomic_file.hpp"

namespace agw {

namespace fs = std::filesystem;

namespace {

bool is_leftover(const fs::directory_entry& entry, fs::file_time_type written_before) {
  if (!is_temporary_name(entry.path().filename().native())) return false;
  std::error_code error;
  if (!fs::is_regular_file(entry.symlink_status(error)) || error) return false;
  const auto written = fs::last_write_time(entry.path(), error);
  return !error && written < written_before;
}

}  // namespace

std::size_t remove_stale_temporary_files(const fs::path& directory, std::chrono::seconds age) {
  AGW_DEBUG_ASSERT(may_block());

  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(directory, error))) return 0;
  const auto written_before = fs::file_time_type::clock::now() - age;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (is_leftover(*entry, written_before)) leftovers.push_back(entry->path());
  }
  std::size_t removed = 0;
  for (const auto& leftover : leftovers) removed += fs::remove(leftover, error) ? 1 : 0;
  return removed;
}

}  // namespace agw
