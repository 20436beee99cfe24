#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/files/descriptor.hpp"
#include "io/process/spawn.hpp"
#include "io/sandbox/sandbox.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

constexpr int gateway_descriptor = 4;  ///< through which a sandbox detects the end of its gateway
constexpr int time_to_end_ms = 15'000;

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
  }
  Descriptor reading;
  Descriptor writing;
};

/// The first two processors that the caller may use; the same one twice if there is only one.
std::array<int, 2> two_processors() {
  cpu_set_t allowed;
  EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<int> found;
  for (int each = 0; each < CPU_SETSIZE; ++each) {
    if (CPU_ISSET(each, &allowed)) found.push_back(each);
  }
  return {found.front(), found.at(found.size() > 1 ? 1 : 0)};
}

void run_on(int processor, pid_t thread) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  EXPECT_EQ(::sched_setaffinity(thread, sizeof one, &one), 0);
}

__attribute__((no_sanitize("address", "thread", "undefined"))) int spin(void* /*unused*/) {
  for (volatile bool always = true; always;) continue;
  return 0;
}

/// Makes the calling process end as large processes do: the thread that is the parent of children ends first. The last
/// thread frees the memory, which takes tens of milliseconds, and then closes the files.
void end_slowly_when_killed(const std::array<int, 2>& processors) {
  constexpr std::size_t memory = std::size_t{256} << 20;
  static std::array<std::max_align_t, 4096> stack;
  const auto start = ::mmap(nullptr, memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(start, memory, MADV_NOHUGEPAGE);
  ::madvise(start, memory, MADV_POPULATE_WRITE);
  const auto thread =
      ::clone(spin, stack.data() + stack.size(),
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, nullptr);
  run_on(processors[0], thread);
  run_on(processors[1], 0);
}

enum class Ending { quick, slow };

/// Starts a gateway that starts a sandboxed command, and kills the gateway after this time.
void kill_gateway_after(std::chrono::microseconds moment, SpawnOptions plan, Ending ending) {
  const auto processors = two_processors();
  Pipe began;
  const auto gateway = ::fork();
  if (gateway == 0) {
    if (ending == Ending::slow) end_slowly_when_killed(processors);
    const Descriptor state(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
    plan.descriptors.emplace_back(state.get(), gateway_descriptor);
    const auto spawned = spawn(plan);
    [[maybe_unused]] const auto written = ::write(began.writing.get(), "!", 1);
    spin(nullptr);
  }
  began.writing = Descriptor();
  cpu_set_t before;
  ::sched_getaffinity(0, sizeof before, &before);
  run_on(processors[0], 0);
  char sign = 0;
  EXPECT_EQ(::read(began.reading.get(), &sign, 1), 1);
  const auto killed = std::chrono::steady_clock::now() + moment;
  while (std::chrono::steady_clock::now() < killed) continue;
  ::kill(gateway, SIGKILL);
  ::sched_setaffinity(0, sizeof before, &before);
  ::waitpid(gateway, nullptr, 0);
}

bool is_locked(const std::filesystem::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  return ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0;
}

/// Starts commands, as gateways do, in a project. The gateway whose end they detect is passed separately.
class SandboxKill : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(project_);
    if (const auto problem = sandbox_.problem()) GTEST_SKIP() << *problem;
  }

  SpawnOptions plan_of(std::vector<std::string> command) {
    options_ = sandbox_.wrap(std::move(command), {.directory = project_, .writable = {project_}});
    SpawnOptions plan{.program = "/usr/bin/bwrap",
                      .arguments = options_.arguments,
                      .environment = options_.environment,
                      .directory = "/",
                      .descriptors = {{nothing_.get(), STDERR_FILENO}},
                      .die_with_parent = options_.die_with_parent};
    for (const auto& [descriptor, number] : options_.descriptors) {
      if (number != gateway_descriptor) plan.descriptors.emplace_back(descriptor->get(), number);
    }
    return plan;
  }

  /// Kills `times` gateways that have just begun to start a command, each `step` later than the one before.
  void expect_no_command_after_kills(int times, std::chrono::microseconds step, Ending ending) {
    for (int i = 0; i < times; ++i) {
      Pipe output;
      auto plan = plan_of({"flock", "running", "sleep", "1000"});
      plan.descriptors.emplace_back(output.writing.get(), STDOUT_FILENO);
      kill_gateway_after(i * step, std::move(plan), ending);
      output.writing = Descriptor();
      // The output ends when the last process closes it. If the kernel kills bubblewrap between two of its system
      // calls, its other process may wait forever for the signal to start; it runs nothing.
      pollfd waiting{.fd = output.reading.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, time_to_end_ms) == 1) continue;
      ASSERT_FALSE(is_locked(project_ / "running"))
          << "the command goes on, killed after " << (i * step).count() << " us";
    }
  }

  int exit_code_of_command(const Descriptor& state_of_gateway) {
    auto plan = plan_of({"/usr/bin/touch", "made"});
    plan.descriptors.emplace_back(state_of_gateway.get(), gateway_descriptor);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(spawn(plan).id), &ended, WEXITED);
    return ended.si_status;
  }

  testing::ScratchDirectory scratch_;
  std::filesystem::path home_ = scratch_.path() / "home";
  std::filesystem::path project_ = home_ / "site";
  Sandbox sandbox_{{.home = home_, .data_directory = home_ / ".agent-gateway"}};
  Descriptor nothing_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  ProcessOptions options_;
};

TEST_F(SandboxKill, LeavesNoCommandOfAHalfMadeOne) { expect_no_command_after_kills(100, 50us, Ending::quick); }

TEST_F(SandboxKill, LeavesNoCommandOfAGatewayWhoseThreadsEndOneAfterTheOther) {
  expect_no_command_after_kills(12, 20us, Ending::slow);
}

TEST_F(SandboxKill, StartsNothingOnceTheGatewayHasEnded) {
  const auto gateway = ::fork();
  if (gateway == 0) spin(nullptr);
  const auto open_state = [file = "/proc/" + std::to_string(gateway) + "/stat"] {
    return Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  };
  const auto running = open_state();
  const auto ended = open_state();
  const auto reaped = open_state();
  EXPECT_EQ(exit_code_of_command(running), 0);
  EXPECT_TRUE(std::filesystem::remove(project_ / "made"));
  ::kill(gateway, SIGKILL);
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(gateway), &end, WEXITED | WNOWAIT);
  EXPECT_EQ(exit_code_of_command(ended), 1);
  ::waitid(P_PID, static_cast<id_t>(gateway), &end, WEXITED);
  EXPECT_EQ(exit_code_of_command(reaped), 1);
  EXPECT_FALSE(std::filesystem::exists(project_ / "made"));
}

}  // namespace
}  // namespace agw
