#include "io/process/process_setup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

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

std::size_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
    limit_before() = std::exchange(limit, raised);
  }
  return limit.rlim_cur;
}

const std::optional<rlimit>& original_file_limit() { return limit_before(); }

}  // namespace agw
