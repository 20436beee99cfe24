#include "io/files/file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "io/files/atomic_file.hpp"

namespace agw {

namespace {

constexpr std::uint32_t watched = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK | IN_DONT_FOLLOW;
constexpr std::uint32_t of_directories = IN_ISDIR | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW;
/// With more changed files, a complete scan is cheaper.
constexpr std::size_t max_files = 1000;

}  // namespace

FileWatch::FileWatch() : inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), lost_(!inotify_) {
  if (lost_) log::warn("cannot watch files ({}); they are compared at each request instead", std::strerror(errno));
}

FileWatch::Changes FileWatch::take() {
  Changes changes{.everything = lost_, .files = {}};
  if (!inotify_) return changes;
  alignas(inotify_event) std::array<char, 16 * 1024> events;
  for (;;) {
    const auto got = ::read(inotify_.get(), events.data(), events.size());
    if (got > 0) {
      take_events(events.data(), static_cast<std::size_t>(got), changes);
    } else if (got == 0 || errno != EINTR) {
      return changes;
    }
  }
}

void FileWatch::take_events(const char* events, std::size_t size, Changes& changes) {
  for (std::size_t place = 0; place < size;) {
    AGW_ASSERT(size - place >= sizeof(inotify_event));
    inotify_event event{};
    std::memcpy(&event, events + place, sizeof event);
    const std::string_view name = event.len > 0 ? events + place + sizeof event : "";
    place += sizeof event + event.len;
    AGW_ASSERT(place <= size);
    if (event.mask & IN_IGNORED) {
      keys_.erase(event.wd);
      continue;
    }
    // A scan covers all other events, of which there can be 16,384.
    if (changes.everything || is_temporary_name(name)) continue;
    const auto key = keys_.find(event.wd);
    if (event.mask & of_directories || key == keys_.end() || changes.files.size() == max_files) {
      changes.everything = true;
    } else {
      changes.files.insert(fmt::format("{}/{}", key->second, name));
      AGW_ASSERT(changes.files.size() <= max_files);
    }
  }
}

FileWatch::Registration FileWatch::add(const std::filesystem::path& directory, std::string key) const {
  if (!inotify_) return {-1, std::move(key)};
  const int number = ::inotify_add_watch(inotify_.get(), directory.c_str(), watched);
  // A path that no longer exists, or is a file, needs no watch.
  const bool is_lost = number < 0 && errno != ENOENT && errno != ENOTDIR;
  return {number, std::move(key), is_lost ? errno : 0};
}

void FileWatch::remember(const Registration& added) {
  AGW_ASSERT(added.number < 0 || added.error == 0);
  if (added.number >= 0) keys_[added.number] = added.key;
  if (added.error == 0 || std::exchange(lost_, true)) return;
  log::warn(
      "cannot watch {} ({}); files are compared at each request instead. For more watches: sysctl "
      "fs.inotify.max_user_watches",
      added.key, std::strerror(added.error));
}

}  // namespace agw
