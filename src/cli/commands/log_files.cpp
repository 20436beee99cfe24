#include "cli/commands/log_files.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include <fmt/format.h>

#include "base/data_files.hpp"

namespace agw::cli {

namespace {

constexpr int oldest = 5;

ino_t inode_of(const std::filesystem::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

/// Waits until something in the directory changes.
void wait(const Descriptor& changes) {
  std::array<char, 4096> events;
  if (::read(changes.get(), events.data(), events.size()) < 0 && errno != EINTR) throw_errno("cannot follow the log");
}

}  // namespace

LogFiles::LogFiles(std::filesystem::path directory) : directory_(std::move(directory)) {
  open();
  if (current_) return;
  throw std::runtime_error(
      fmt::format("there is no readable log in {}: `agw serve` writes it, unless "
                  "log_level is off",
                  directory_.string()));
}

void LogFiles::open() {
  const auto path = directory_ / data_files::log;
  current_ = std::ifstream(path, std::ios::binary);
  inode_ = inode_of(path);
}

void LogFiles::read(const Each& each) {
  for (int number = oldest; number > 0; --number) {
    std::ifstream file(directory_ / fmt::format("gateway.{}.log", number), std::ios::binary);
    for (std::string line; std::getline(file, line);) each(line);
  }
  read_on(each);
}

void LogFiles::read_on(const Each& each) {
  current_.clear();
  for (std::string line; std::getline(current_, line);) {
    unfinished_ += line;
    if (current_.eof()) return;
    each(std::exchange(unfinished_, {}));
  }
}

bool LogFiles::was_rotated() const {
  const auto inode = inode_of(directory_ / data_files::log);
  return inode != 0 && inode != inode_;
}

void LogFiles::follow(const Each& each) {
  const Descriptor changes(::inotify_init1(IN_CLOEXEC));
  const auto kinds = IN_MODIFY | IN_CREATE | IN_MOVED_TO;
  if (!changes || ::inotify_add_watch(changes.get(), directory_.c_str(), kinds) < 0) {
    throw_errno("cannot follow " + directory_.string());
  }
  for (;;) {
    read_on(each);
    if (was_rotated()) {
      read_on(each);
      open();
    } else {
      wait(changes);
    }
  }
}

}  // namespace agw::cli
