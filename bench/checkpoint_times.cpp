// Measures the cost of checkpoints for tools, in seconds:
//
//     checkpoint_times write <directory> <bytes>    Write with and without its checkpoint
//     checkpoint_times listings <directory>         the listings before and after a command that changes nothing; the
//                                                   floor reads the state of each file twice, on two threads
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/async/task_group.hpp"
#include "features/checkpoints/service.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/filesystem/service.hpp"
#include "features/projects/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "io/files/descriptor.hpp"
#include "io/sandbox/sandbox.hpp"
#include "tools/files/file_tools.hpp"

namespace {

using namespace agw;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int repetitions = 101;
constexpr std::chrono::milliseconds time_between_calls{20};

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The files of a directory's directories, whose states two threads read: what listings cannot do without.
class FileStates {
public:
  explicit FileStates(const fs::path& root) {
    for (const auto& directory : fs::directory_iterator(root)) {
      auto& names = directories_[directory.path()];
      for (const auto& file : fs::directory_iterator(directory)) names.push_back(file.path().filename());
    }
  }

  double seconds_for_reading_twice() const {
    const auto start = Clock::now();
    for (int i = 0; i < 2; ++i) {
      const std::jthread second([this] { read(1); });
      read(0);
    }
    return seconds_since(start);
  }

private:
  /// Reads every second directory.
  void read(std::size_t number) const {
    for (const auto& [path, names] : directories_) {
      if (number++ % 2 != 0) continue;
      const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      for (const auto& name : names) {
        struct stat status{};
        if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
          throw std::runtime_error("cannot read the state of " + name);
      }
    }
  }

  std::map<std::string, std::vector<std::string>> directories_;
};

/// The rooms of a gateway that tools need. The project is a directory, and the data are next to it.
class Bench {
public:
  Bench(Loop& loop, const fs::path& project)
      : loop_(loop),
        project_(fs::canonical(project)),
        data_(project_.parent_path() / (project_.filename().string() + "-data")),
        blocking_(loop),
        sandbox_({.home = project_.parent_path(), .data_directory = data_}),
        shell_(loop, blocking_, sandbox_, [](std::string_view) { return ShellLimits{}; }),
        database_(loop, {.file = made(data_) / "gateway.db", .backups = data_ / "backups"}),
        filesystem_(blocking_, project_.parent_path()),
        projects_(database_, filesystem_, clock_, data_),
        runs_(loop, database_, hub_, clock_),
        extensions_(database_, hub_, clock_),
        threads_(loop, database_, hub_, clock_, projects_, runs_, extensions_),
        checkpoints_(loop, blocking_, database_, clock_, runs_, threads_, {.directory = data_ / "checkpoints"}) {}

  /// Alternates between the two, so that both find the disk in the same state. Pauses, as agents do, so that background
  /// work of one call does not slow down the next.
  Task<> write(std::size_t bytes) {
    const auto plain = file_tools({.loop = loop_, .blocking = blocking_, .shell = shell_, .ripgrep = {}});
    const auto recorded =
        file_tools({.loop = loop_, .blocking = blocking_, .shell = shell_, .ripgrep = {}, .recorder = &checkpoints_});
    StopSource stop;
    std::vector<double> with;
    std::vector<double> without;
    for (int i = 0; i < repetitions; ++i) {
      co_await pause(stop, time_between_calls);
      without.push_back(co_await time_of(plain, "plain.txt", content(bytes, i)));
      co_await pause(stop, time_between_calls);
      with.push_back(co_await time_of(recorded, "recorded.txt", content(bytes, i)));
    }
    co_await checkpoints_.stop();
    std::printf("{\"tool\": %.6f, \"floor\": %.6f}\n", median(with), median(without));
  }

  Task<> listings() {
    const ToolRun run{.run_id = "bench", .thread_id = "bench", .roots = roots()};
    const FileStates states(project_);
    std::vector<double> times;
    std::vector<double> floors;
    for (int i = 0; i < 12; ++i) {
      const auto start = Clock::now();
      auto before = co_await checkpoints_.before_command(run, {project_});
      co_await checkpoints_.after_command(run, std::move(before));
      times.push_back(seconds_since(start));
      floors.push_back(co_await blocking_.run([&states] { return states.seconds_for_reading_twice(); }));
    }
    co_await checkpoints_.stop();
    const auto first = times.front();
    times.erase(times.begin());
    std::printf("{\"tool\": %.6f, \"floor\": %.6f, \"first\": %.6f}\n", median(times), median(floors), first);
  }

private:
  static fs::path made(const fs::path& directory) {
    fs::create_directories(directory);
    return directory;
  }
  static std::string content(std::size_t bytes, int number) {
    std::string text;
    while (text.size() < bytes)
      text += "line " + std::to_string(text.size() * 7919 + static_cast<std::size_t>(number)) + "\n";
    return text;
  }
  FileRoots roots() const {
    return {.home = project_.parent_path(), .data_directory = data_, .agent = "bench", .project = project_};
  }

  Task<double> time_of(const std::vector<Tool>& tools, std::string path, std::string text) {
    const auto& tool = *std::ranges::find(tools, "Write", [](const Tool& each) { return each.description.name; });
    const ToolRun run{.run_id = "bench", .thread_id = "bench", .agent_name = "bench", .roots = roots()};
    StopSource stop;
    const ToolCall call{.input = {{"path", path}, {"content", std::move(text)}},
                        .run = run,
                        .stop = stop,
                        .authorize = [](const ToolTarget&) { return Permission{}; },
                        .stage = {}};
    const auto start = Clock::now();
    const auto outcome = co_await tool.call(call);
    if (outcome.is_error) throw std::runtime_error(outcome.output);
    co_return seconds_since(start);
  }

  Loop& loop_;
  fs::path project_;
  fs::path data_;
  SystemClock clock_;
  Hub hub_;
  BlockingPool blocking_;
  Sandbox sandbox_;
  Shell shell_;
  Database database_;
  Filesystem filesystem_;
  Projects projects_;
  Runs runs_;
  Extensions extensions_;
  Threads threads_;
  Checkpoints checkpoints_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return EXIT_FAILURE;
  const std::string what = arguments[1];
  Loop loop;
  Bench bench(loop, arguments[2]);
  TaskGroup group(loop);
  group.on_failure([](std::exception_ptr failure) { std::rethrow_exception(failure); });
  group.spawn(what == "write" && count > 3 ? bench.write(std::stoul(arguments[3])) : bench.listings());
  loop.run();
}
