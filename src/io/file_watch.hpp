#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <unordered_map>

#include "io/descriptor.hpp"

namespace agw {

/// Tells which files of some directories have changed (inotify). Changes are asked for, not announced: whoever asks
/// learns of all that happened before, so that what is read afterwards is as new as the question.
class FileWatch {
public:
  /// Without the kernel's help (too many watches on this machine) it works all the same, and always answers
  /// `everything`.
  FileWatch();

  struct Changes {
    bool everything = false;      ///< too much, or a directory: look at all of it
    std::set<std::string> files;  ///< otherwise these, as `<key>/<name>`
    bool any() const { return everything || !files.empty(); }
  };
  /// What has changed since it was last asked. Never blocks.
  Changes take();

  /// A directory that is watched, before its key is known to the watch.
  struct Added {
    int number = -1;
    std::string key;
    int error = 0;  ///< of the system, where it could not be watched
  };
  /// Begins to watch a directory, or goes on with it; not what lies in directories beneath. From any thread. Whatever
  /// is listed afterwards misses no change.
  Added add(const std::filesystem::path& directory, std::string key) const;
  /// On the thread that takes.
  void remember(const Added& added);

private:
  void take_events(const char* events, std::size_t size, Changes& changes);

  Descriptor inotify_;
  std::unordered_map<int, std::string> keys_;
  bool lost_ = false;  ///< something is not watched
};

}  // namespace agw
