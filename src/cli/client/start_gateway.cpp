#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/client/find_gateway.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto restart_limit = 1500ms;
constexpr auto restart_poll_interval = 25ms;

std::optional<FoundGateway> running(const std::optional<std::string>& data_dir) {
  try {
    return find_gateway(data_dir);
  } catch (const StartError& error) {
    if (error.status() != ExitStatus::not_running) throw;
    return std::nullopt;
  }
}

/// Called in the child: becomes `agw serve` in its own session, without this program's streams.
[[noreturn]] void become(const std::vector<std::string>& arguments, int errors) {
  ::setsid();
  // Forks again, so that no process has to wait for the gateway.
  if (::fork() != 0) ::_exit(0);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  std::vector<char*> words;
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));  // NOLINT
  words.push_back(nullptr);
  ::execv("/proc/self/exe", words.data());
  ::_exit(1);
}

void start(const std::vector<std::string>& arguments, int errors) {
  const auto child = ::fork();
  if (child < 0) throw_errno("cannot start the gateway");
  if (child == 0) become(arguments, errors);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
}

std::string first_line(int file) {
  constexpr std::size_t max_bytes = 1000;
  std::array<char, max_bytes> text{};
  const auto size = ::pread(file, text.data(), text.size(), 0);
  const std::string all(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return all.substr(0, all.find('\n'));
}

}  // namespace

FoundGateway find_or_start_gateway(const std::optional<std::string>& data_dir_flag, bool has_run) {
  const auto until = std::chrono::steady_clock::now() + (has_run ? restart_limit : 0ms);
  do {
    if (auto found = running(data_dir_flag)) return *std::move(found);
    if (has_run) std::this_thread::sleep_for(restart_poll_interval);
  } while (std::chrono::steady_clock::now() < until);
  std::vector<std::string> arguments{"agw", "serve"};
  if (data_dir_flag) arguments.insert(arguments.end(), {"--data-dir", std::filesystem::absolute(*data_dir_flag)});
  const Descriptor errors(::memfd_create("agw serve", MFD_CLOEXEC));
  start(arguments, errors.get());
  if (!wait_until_up(data_directory(data_dir_flag))) {
    const auto why = first_line(errors.get());
    throw StartError(ExitStatus::failure,
                     fmt::format("the gateway does not start: {}", why.empty() ? "`agw serve` shows why" : why));
  }
  return find_gateway(data_dir_flag);
}

}  // namespace agw::cli
