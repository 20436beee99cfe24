#include <linux/close_range.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "io/process/process_setup.hpp"

namespace agw {

namespace {

constexpr auto own_program = "/proc/self/exe";

/// The arguments from the kernel, so that nothing has to be parsed and reassembled.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < all.size(); at += arguments.back().size() + 1) arguments.emplace_back(all.c_str() + at);
  return arguments;
}

bool is_executed_by_systemd() {
  const char* process = std::getenv("SYSTEMD_EXEC_PID");  // NOLINT(concurrency-mt-unsafe)
  return process && process == std::to_string(::getpid());
}

}  // namespace

bool is_started_by_hand() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && ::getpid() != 1 && !is_executed_by_systemd();
}

std::string program_path() {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink(own_program, unknown);
  return unknown ? own_program : path.string();
}

std::string restart_program(const std::string& path, const char* variable, const std::string& value,
                            bool hangup_was_ignored) {
  auto arguments = own_arguments();
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::setenv(variable, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no other thread is left
  if (const auto& limit = original_file_limit()) ::setrlimit(RLIMIT_NOFILE, &*limit);
  // Ignored signals would stay ignored, and the program could no longer be stopped.
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  std::signal(SIGHUP, hangup_was_ignored ? SIG_IGN : SIG_DFL);
  ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  ::execv(path.c_str(), pointers.data());
  // The file may be gone, but the running program is still accessible.
  ::execv(own_program, pointers.data());
  return std::strerror(errno);
}

}  // namespace agw
