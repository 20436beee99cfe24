#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "features/filesystem/home.hpp"
#include "features/filesystem/types.hpp"

namespace agw {

/// The limits of one search, which ends when both are exceeded. A small home is therefore always searched completely,
/// and a large one in bounded time, nearest names first.
struct SearchBudget {
  std::chrono::milliseconds time{70};
  std::size_t entries = 5000;
};

/// Finds files and directories by a part of their name, ignoring case: breadth first, three levels deep, at most 15.
/// Skips names that begin with a dot and `node_modules`, with everything in them. Blocks; not for the loop.
class NameSearch {
public:
  NameSearch(const Home& home, std::string_view part, SearchBudget budget = {});

  /// Returns the matches below `root`, a directory in home: nearest first, those of one level by path. Fails only for
  /// `root` itself; unreadable entries below it are skipped.
  FileResult<std::vector<FileEntry>> run(const std::filesystem::path& root);

private:
  FileResult<void> search_directory(const std::string& directory, bool last_level);
  void match(const std::string& directory, const DirectoryEntry& entry, bool last_level);
  bool contains_part(const std::string& name) const;
  void take_found(std::vector<FileEntry>& results);
  bool spent();

  const Home& home_;
  RE2 pattern_;
  std::optional<std::string> ascii_part_;  ///< in lower case
  SearchBudget budget_;
  std::chrono::steady_clock::time_point deadline_;
  std::size_t seen_ = 0;
  bool spent_ = false;
  // Of the current level; paths are relative to home.
  std::vector<DirectoryEntry> found_;
  std::vector<std::string> next_level_;
};

}  // namespace agw
