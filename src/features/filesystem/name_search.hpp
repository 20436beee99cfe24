#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "features/filesystem/home.hpp"
#include "features/filesystem/types.hpp"

namespace agw {

/// How much one search may do. It ends once it has seen `entries` and taken `time`: so that in a small home it always
/// looks everywhere, and in a huge one it answers in time with what lies nearest.
struct SearchBudget {
  std::chrono::milliseconds time{70};
  std::size_t entries = 5000;
};

/// Searches files and directories by a part of their name, in either case: breadth first, three levels deep, at
/// most 15. Names that begin with a dot and `node_modules` are passed over, with all in them. Blocks: not for the loop.
class NameSearch {
public:
  NameSearch(const Home& home, std::string_view part, SearchBudget budget = {});

  /// What is found beneath `root`, a directory in home; the nearest first, those of one level by path. An error is one
  /// of `root` itself: what cannot be read beneath it is passed over.
  FileResult<std::vector<FileEntry>> run(const std::filesystem::path& root);

private:
  FileResult<void> look_into(const std::string& directory, bool last_level);
  void look_at(const std::string& directory, const DirectoryEntry& entry, bool last_level);
  void take_found(std::vector<FileEntry>& results);
  bool spent();

  const Home& home_;
  RE2 pattern_;
  SearchBudget budget_;
  std::chrono::steady_clock::time_point deadline_;
  std::size_t seen_ = 0;
  bool spent_ = false;
  // Of the level that is searched, by paths below home.
  std::vector<DirectoryEntry> found_;
  std::vector<std::string> next_level_;
};

}  // namespace agw
