#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <unordered_map>

#include "io/files/descriptor.hpp"

namespace agw {

/// Reports which files of some directories have changed (inotify). Changes are polled: a call reports all that happened
/// before it, so that what is read afterwards is up to date.
/// Example: src/io/files/file_watch_test.cpp: WatchedDirectory.TellsWhichFilesHaveChangedOnce
class FileWatch {
public:
  /// If the kernel refuses (too many watches), it still works but always reports `everything`.
  FileWatch();

  struct Changes {
    bool everything = false;      ///< too many changes, or a directory changed: rescan
    std::set<std::string> files;  ///< otherwise these, as `<key>/<name>`
    bool any() const { return everything || !files.empty(); }
  };
  /// The changes since the last call. Never blocks.
  Changes take();

  /// A watched directory whose key is not yet registered.
  struct Registration {
    int number = -1;
    std::string key;
    int error = 0;  ///< errno if it could not be watched
  };
  /// Starts to watch a directory, or continues to; not its subdirectories. From any thread. A listing made afterwards
  /// misses no change.
  Registration add(const std::filesystem::path& directory, std::string key) const;
  /// Registers the key. On the thread that calls `take`.
  void remember(const Registration& added);

private:
  void take_events(const char* events, std::size_t size, Changes& changes);

  Descriptor inotify_;
  std::unordered_map<int, std::string> keys_;
  bool lost_ = false;  ///< some directory is not watched
};

}  // namespace agw
