#include "io/process/process_setup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "io/process/spawn.hpp"

namespace agw {

namespace {

std::optional<rlimit>& limit_before() {
  static std::optional<rlimit> limit;
  return limit;
}

}  // namespace

void open_standard_streams(bool is_output_read) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int mode = stream == STDOUT_FILENO && is_output_read ? O_RDONLY : O_RDWR;
    // The kernel assigns the lowest free number, which is the number of the stream.
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", mode) < 0) return;
  }
}

void keep_rights_to_own_files() { ::umask(::umask(0) & ~static_cast<mode_t>(S_IRWXU)); }

std::size_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
    limit_before() = std::exchange(limit, raised);
  }
  return limit.rlim_cur;
}

std::optional<std::string> file_limit_problem() {
  // A sandboxed program gets about twenty descriptors above the fixed ones.
  constexpr std::size_t min_files = first_spare_descriptor + 56;
  const auto max_files = raise_file_limit();
  if (max_files >= min_files) return std::nullopt;
  return fmt::format(
      "this process may open no more than {} files, and the gateway needs {}: raise the limit (ulimit -Hn, or "
      "LimitNOFILE= of a systemd unit)",
      max_files, min_files);
}

const std::optional<rlimit>& original_file_limit() { return limit_before(); }

}  // namespace agw
