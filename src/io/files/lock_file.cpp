#include "io/files/lock_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// How long the lock of a dead gateway may persist: a child that was being started when the gateway was killed has the
/// file open until it executes its program.
constexpr auto lock_timeout = 2s;
constexpr auto lock_poll_interval = 5ms;
static_assert(lock_poll_interval < lock_timeout);

/// The content always has this length, padded with spaces: a single write replaces it completely, and readers never see
/// part of it.
constexpr std::size_t content_size = 512;

std::filesystem::path path_in(const std::filesystem::path& data_directory) { return data_directory / data_files::lock; }

/// A lock of the open file description. Unlike a POSIX lock, it is not lost when another descriptor of the file is
/// closed; unlike `flock`, it can be queried without taking it.
struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool take(const Descriptor& file) {
  AGW_ASSERT(file);
  auto lock = whole_file();
  return ::fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

bool is_taken(const Descriptor& file) {
  auto lock = whole_file();
  if (::fcntl(file.get(), F_OFD_GETLK, &lock) != 0) throw_errno("cannot look at the lock of the gateway");
  return lock.l_type != F_UNLCK;
}

bool is_dead(pid_t process) { return process != 0 && ::kill(process, 0) != 0 && errno == ESRCH; }

RunningGateway parsed_content(const Descriptor& file) {
  std::array<char, content_size> content;
  const auto size = ::pread(file.get(), content.data(), content.size(), 0);
  if (size <= 0) return {};
  const auto value = parse_json({content.data(), static_cast<std::size_t>(size)});
  if (!value || !value->is_object()) return {};
  const auto& object = value->get_object();
  RunningGateway gateway;
  if (const auto* pid = object.if_contains("pid"); pid && pid->is_int64()) {
    gateway.pid = static_cast<pid_t>(pid->get_int64());
  }
  gateway.url = string_member(object, "url").value_or("");
  gateway.certificate = string_member(object, "certificate").value_or("");
  return gateway;
}

/// Takes the lock; waits until a dead gateway has released it.
bool take_with_timeout(const Descriptor& file) {
  const auto end = std::chrono::steady_clock::now() + lock_timeout;
  while (!take(file)) {
    const auto error = errno;
    const bool may_come = (error == EAGAIN || error == EACCES) && is_dead(parsed_content(file).pid);
    if (!may_come || std::chrono::steady_clock::now() > end) {
      errno = error;
      return false;
    }
    std::this_thread::sleep_for(lock_poll_interval);
  }
  return true;
}

[[noreturn]] void refuse(const RunningGateway& other, const std::filesystem::path& data_directory) {
  const auto process = other.pid == 0 ? std::string() : fmt::format(" (process {})", other.pid);
  const auto url = other.url.empty() ? std::string(", not answering yet") : fmt::format(" at {}", other.url);
  throw StartError(ExitStatus::already_running,
                   fmt::format("another gateway{} already runs on {}{}: stop it, or name another --data-dir", process,
                               data_directory.string(), url));
}

}  // namespace

LockFile::LockFile(const std::filesystem::path& data_directory)
    : path_(path_in(data_directory)),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)) {
  struct stat status{};
  if (file_ && ::fstat(file_.get(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw StartError(ExitStatus::usage, fmt::format("cannot lock {}: it is no regular file", path_.string()));
  }
  if (file_ && take_with_timeout(file_)) {
    write({}, {});
    return;
  }
  const auto error = errno;
  if (file_ && (error == EAGAIN || error == EACCES)) refuse(parsed_content(file_), data_directory);
  throw StartError(ExitStatus::usage, fmt::format("cannot lock {}: {}", path_.string(), std::strerror(error)));
}

LockFile::~LockFile() {
  // The file is not removed: a starting gateway that has it open would lock a file that others cannot find. Readers
  // check the lock before they use the content.
  if (::ftruncate(file_.get(), 0) != 0) return;
}

void LockFile::publish(std::string_view url, std::string_view certificate) { write(url, certificate); }

void LockFile::write(std::string_view url, std::string_view certificate) {
  const auto text_or_null = [](std::string_view text) { return text.empty() ? json::value() : json::value(text); };
  const json::object content{
      {"pid", ::getpid()}, {"url", text_or_null(url)}, {"certificate", text_or_null(certificate)}};
  auto text = to_json(content);
  text.resize(std::max(text.size(), content_size - 1), ' ');
  text += '\n';
  // Otherwise the rest of an earlier content would follow.
  AGW_ASSERT(text.size() >= content_size);
  if (::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw StartError(ExitStatus::failure, fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  }
}

std::optional<RunningGateway> find_running_gateway(const std::filesystem::path& data_directory) {
  const auto path = path_in(data_directory);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!file) throw_errno("cannot read " + path.string());
  if (!is_taken(file)) return std::nullopt;
  return parsed_content(file);
}

}  // namespace agw
