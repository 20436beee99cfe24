#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

#include "cli/commands/programs.hpp"

namespace agw::cli {

namespace {

constexpr int no_such_program = 127;
constexpr int ended_by_signal = 128;

/// During its lifetime, only the program receives the signals of the keyboard.
class IgnoreKeyboardSignals {
public:
  IgnoreKeyboardSignals() {
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignored, &interrupt_);
    ::sigaction(SIGQUIT, &ignored, &quit_);
  }
  ~IgnoreKeyboardSignals() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoreKeyboardSignals(const IgnoreKeyboardSignals&) = delete;
  IgnoreKeyboardSignals& operator=(const IgnoreKeyboardSignals&) = delete;

private:
  struct sigaction interrupt_{};
  struct sigaction quit_{};
};

pid_t start(const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words.front(), nullptr, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error == ENOENT) return 0;
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot run " + arguments.front());
  return child;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  const IgnoreKeyboardSignals quiet;
  const auto child = start(arguments);
  if (child == 0) return no_such_program;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot wait for " + arguments.front());
  }
  return WIFSIGNALED(status) ? ended_by_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace agw::cli
