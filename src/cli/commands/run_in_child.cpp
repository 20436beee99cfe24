#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>

#include <fmt/format.h>

#include "cli/commands/programs.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

sigset_t ending_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : ending_signals) ::sigaddset(&set, signal);
  return set;
}

/// Forwards signals until the child has ended. Returns its status.
int wait_for(pid_t child, const sigset_t& awaited) {
  for (;;) {
    int status = 0;
    const auto ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) throw_errno("cannot wait for the work");
    const int signal = ::sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
  }
}

int end_by(int signal, const sigset_t& mask) {
  constexpr int as_shells_say = 128;
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  return as_shells_say + signal;
}

}  // namespace

int run_in_child(const std::function<int()>& work, const std::function<void()>& clean_up) {
  // If the signal were ignored, as inherited, it would never arrive, and the wait would never end.
  std::signal(SIGCHLD, SIG_DFL);
  auto awaited = ending_set();
  ::sigaddset(&awaited, SIGCHLD);
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, &awaited, &mask);
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0) throw_errno("cannot start the work");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (::getppid() != parent) ::raise(SIGKILL);
    return work();
  }
  const int status = wait_for(child, awaited);
  if (WIFEXITED(status)) {
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    return WEXITSTATUS(status);
  }
  const int signal = WTERMSIG(status);
  if (::sigismember(&awaited, signal) != 1) throw std::runtime_error(fmt::format("ended by signal {}", signal));
  clean_up();
  return end_by(signal, mask);
}

void ignore_termination() {
  const auto set = ending_set();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace agw::cli
