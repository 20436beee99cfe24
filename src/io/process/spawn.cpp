#include "io/process/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include "base/async/assert.hpp"
#include "io/process/process_setup.hpp"
#include "io/process/scoped_signal_block.hpp"

namespace agw {

namespace {

constexpr std::size_t child_stack_size = std::size_t{128} * 1024;
static_assert(first_spare_descriptor > STDERR_FILENO);
static_assert(child_stack_size % sizeof(std::max_align_t) == 0);

/// Whether the number is one that the child can give to a descriptor without closing a copy that it still needs.
bool may_be_given(int number) { return number >= 0 && number < first_spare_descriptor; }

/// Data for the child, allocated before it exists: it shares the parent's memory and must not allocate.
struct Child {
  const SpawnOptions& plan;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<int> spares;         ///< space for the child's copies of the descriptors
  const rlimit* descriptor_limit;  ///< null: the caller's limit
  pid_t parent;
  int error = 0;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The child's functions must not be instrumented, because they run on a stack unknown to sanitizers.
#define AGW_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

AGW_IN_CHILD bool take_descriptors(Child& child) {
  const auto& wanted = child.plan.descriptors;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    child.spares[i] = ::fcntl(wanted[i].first, F_DUPFD_CLOEXEC, first_spare_descriptor);
    if (child.spares[i] < 0) return false;
  }
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (::dup2(child.spares[i], wanted[i].second) < 0) return false;
  }
  return true;
}

AGW_IN_CHILD void reset_signals(const SpawnOptions& plan) {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  for (const auto number : plan.ignored_signals) ::sigaction(number, &ignored, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Makes the kernel kill the child before the gateway when memory runs out.
AGW_IN_CHILD void prefer_for_oom_kill() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, "500", 3);
  ::close(file);
}

AGW_IN_CHILD bool become(Child& child) {
  if (::setsid() < 0) return false;
  if (child.plan.die_with_parent && ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  if (::getppid() != child.parent) _exit(127);  // the parent ended before PR_SET_PDEATHSIG took effect
  prefer_for_oom_kill();
  if (!take_descriptors(child)) return false;
  if (child.descriptor_limit && ::setrlimit(RLIMIT_NOFILE, child.descriptor_limit) != 0) return false;
  if (::chdir(child.plan.directory.c_str()) != 0) return false;
  reset_signals(child.plan);
  ::execve(child.plan.program.c_str(), child.arguments.data(), child.environment.data());
  return false;
}

AGW_IN_CHILD int begin(void* argument) {
  auto& child = *static_cast<Child*>(argument);
  become(child);
  child.error = errno;
  _exit(127);
}

}  // namespace

SpawnedProcess spawn(const SpawnOptions& plan) {
  AGW_ASSERT(!plan.arguments.empty());
  AGW_ASSERT(!plan.directory.empty());
  AGW_ASSERT(std::ranges::all_of(plan.descriptors, may_be_given, &std::pair<int, int>::second));
  AGW_ASSERT(std::ranges::all_of(plan.ignored_signals, [](int number) { return number > 0 && number < NSIG; }));

  const auto& limit = original_file_limit();
  Child child{.plan = plan,
              .arguments = pointers(plan.arguments),
              .environment = pointers(plan.environment),
              .spares = std::vector<int>(plan.descriptors.size()),
              .descriptor_limit = limit ? &*limit : nullptr,
              .parent = ::getpid()};
  // The parent is suspended until the child has executed its program or failed, so its memory and `child` can be
  // shared.
  std::vector<std::max_align_t> stack(child_stack_size / sizeof(std::max_align_t));
  int descriptor = -1;
  pid_t id = -1;
  {
    const ScopedSignalBlock no_handler_runs_in_the_child;
    id = ::clone(begin, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child,
                 &descriptor);
  }
  if (id < 0) throw_errno("cannot start a process");
  // Signals for another number would reach another process, or all of them.
  AGW_ASSERT(id > 1);
  AGW_ASSERT(descriptor >= 0);
  SpawnedProcess spawned{.id = id, .descriptor = Descriptor(descriptor)};
  if (child.error == 0) return spawned;
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(id), &ended, WEXITED);
  errno = child.error;
  throw_errno("cannot start " + plan.program);
}

std::string find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != name.npos) return name;
  std::vector<std::string> directories;
  boost::split(directories, path, boost::is_any_of(":"));
  for (const auto& directory : directories) {
    auto candidate = directory + "/" + name;
    if (directory.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return name;
}

}  // namespace agw
