#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <unordered_map>

#include "io/files/descriptor.hpp"

namespace agw {

/// Reports changed files in some directories (inotify). The caller polls: a call reports all changes before it, so
/// files read afterwards are up to date.
/// Example: src/io/files/file_watch_test.cpp: WatchedDirectory.ReportsChangedFilesOnce
class FileWatch {
public:
  /// If the kernel refuses (too many watches), `take` always reports `everything`.
  FileWatch();

  struct Changes {
    bool everything = false;      ///< too many changes, or a directory changed: rescan
    std::set<std::string> files;  ///< otherwise the changed files, as `<key>/<name>`
    bool any() const { return everything || !files.empty(); }
  };
  /// The changes since the last call. Never blocks.
  Changes take();

  /// A watched directory whose key is not registered yet.
  struct Registration {
    int number = -1;
    std::string key;
    int error = 0;  ///< errno if it could not be watched
  };
  /// Starts watching a directory, or continues to; excludes subdirectories. Thread-safe. A listing made afterwards
  /// misses no change.
  Registration add(const std::filesystem::path& directory, std::string key) const;
  /// Registers the key. Call it on the thread that calls `take`.
  void remember(const Registration& added);

private:
  void take_events(const char* events, std::size_t size, Changes& changes);

  Descriptor inotify_;
  std::unordered_map<int, std::string> keys_;
  bool lost_ = false;  ///< some directory is not watched
};

}  // namespace agw
