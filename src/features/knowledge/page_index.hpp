#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/knowledge/async_mutex.hpp"
#include "features/knowledge/files.hpp"
#include "io/files/file_watch.hpp"
#include "io/process/blocking.hpp"
#include "storage/database.hpp"

namespace agw {

struct IndexedPage;

/// The differences between the page files and their rows in the database, as paths.
struct PageDifferences {
  std::vector<std::string> changed;
  std::vector<std::string> gone;
};

/// Keeps the index of the pages consistent with their files, no matter who writes them. Files are watched, so catching
/// up is free if nothing has changed.
class PageIndex {
public:
  /// Set `others_write` if gateways on other machines write the files too: their changes cannot be watched, so catching
  /// up compares all files.
  PageIndex(BlockingPool& blocking, Database& database, std::filesystem::path data_directory,
            bool others_write = false);

  /// When it returns, the index has the version of every page that was on disk at the time of the call, or a newer one.
  Task<> catch_up();

  /// Ends active work at the next safe point. The rest is indexed after the next start.
  void stop() { stopping_ = true; }

  const std::shared_ptr<const KnowledgeTree>& tree() const { return tree_; }

private:
  Task<PageDifferences> compare_all();
  Task<> take(std::vector<std::string> paths);
  Task<> write(std::vector<std::string> paths, std::vector<std::optional<IndexedPage>> pages);
  Task<> remove(std::vector<std::string> paths);
  Task<> merge();

  BlockingPool& blocking_;
  Database& database_;
  const std::filesystem::path data_directory_;
  const std::shared_ptr<const KnowledgeTree> tree_;
  const std::shared_ptr<FileWatch> watch_;
  const bool others_write_;
  bool compared_ = false;    ///< all files were compared since the start
  bool all_watched_ = true;  ///< all directories that may contain pages are watched
  bool stopping_ = false;
  AsyncMutex mutex_;
};

}  // namespace agw
