// Measures the file and command tools in a directory, and the programs that they use, in seconds:
//
//     tool_times commands <directory>            a sandboxed command, with and without network, and without sandbox
//     tool_times grep <directory>                Grep, and ripgrep itself
//     tool_times output <directory> <command>    no time: the output of a sandboxed command that may reach this host
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/async/task_group.hpp"
#include "tools/files/file_tools.hpp"
#include "tools/search/grep.hpp"

namespace {

using namespace agw;
using Clock = std::chrono::steady_clock;

constexpr auto searched = "otter[0-9]+";

Task<double> median_of(int repetitions, std::function<Task<>()> make) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    co_await make();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  co_return times[times.size() / 2];
}

/// An agent whose project is the directory.
class Bench {
public:
  Bench(Loop& loop, const std::filesystem::path& project)
      : loop_(loop),
        project_(std::filesystem::canonical(project)),
        blocking_(loop),
        sandbox_({.home = project_.parent_path(), .data_directory = project_.parent_path() / ".agent-gateway"}),
        shell_(loop, blocking_, sandbox_, [](std::string_view) { return ShellLimits{}; }),
        tools_(file_tools({.loop = loop, .blocking = blocking_, .shell = shell_, .ripgrep = find_ripgrep()})) {}

  Task<> commands(int repetitions) {
    const auto sandboxed = co_await median_of(repetitions, [this] { return call("Bash", {{"command", "true"}}); });
    const auto plain = co_await median_of(repetitions, [this] { return process({"/bin/bash", "-c", "true"}); });
    rights_ = with_network;
    const auto connected = co_await median_of(repetitions, [this] { return call("Bash", {{"command", "true"}}); });
    std::printf("{\"tool\": %.6f, \"network\": %.6f, \"floor\": %.6f}\n", sandboxed, connected, plain);
  }

  Task<> output(std::string command) {
    rights_ = with_network;
    std::printf("%s\n", (co_await outcome_of("Bash", {{"command", command}, {"timeout_s", 600}})).output.c_str());
  }

  Task<> grep(int repetitions) {
    co_await process(ripgrep());  // so that both find the files in the page cache
    const auto tool = co_await median_of(repetitions, [this] { return call("Grep", {{"pattern", searched}}); });
    const auto floor = co_await median_of(repetitions, [this] { return process(ripgrep()); });
    std::printf("{\"tool\": %.6f, \"floor\": %.6f}\n", tool, floor);
  }

private:
  Task<> call(std::string name, json::object input) {
    const auto outcome = co_await outcome_of(std::move(name), std::move(input));
    if (outcome.is_error) throw std::runtime_error(outcome.output);
  }

  Task<ToolOutcome> outcome_of(std::string name, json::object input) {
    const auto& tool = *std::ranges::find(tools_, name, [](const Tool& each) { return each.description.name; });
    const ToolRun run{.agent_name = "bench",
                      .roots = {.home = project_.parent_path(),
                                .data_directory = project_.parent_path() / ".agent-gateway",
                                .agent = "bench",
                                .project = project_}};
    const ToolCall call{.input = std::move(input),
                        .run = run,
                        .stop = stop_,
                        .authorize = [this](const ToolTarget&) { return rights_; },
                        .stage = {}};
    co_return co_await tool.call(call);
  }

  Task<> process(std::vector<std::string> arguments) {
    co_await run_process(loop_, {.arguments = std::move(arguments), .directory = project_}, {}, {}, stop_);
  }

  static std::vector<std::string> ripgrep() {
    const auto program = find_ripgrep();
    if (!program) throw std::runtime_error("ripgrep is not installed");
    return {*program, "--line-number", "--regexp", searched, "./"};
  }

  static inline const Permission with_network{.network = true, .names_host = true, .names_loopback = true};

  Loop& loop_;
  Permission rights_;
  std::filesystem::path project_;
  BlockingPool blocking_;
  Sandbox sandbox_;
  Shell shell_;
  std::vector<Tool> tools_;
  StopSource stop_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return EXIT_FAILURE;
  ::signal(SIGPIPE, SIG_IGN);
  const std::string what = arguments[1];
  Loop loop;
  Bench bench(loop, arguments[2]);
  TaskGroup group(loop);
  group.on_failure([](std::exception_ptr failure) { std::rethrow_exception(failure); });
  if (what == "output" && count > 3)
    group.spawn(bench.output(arguments[3]));
  else
    group.spawn(what == "grep" ? bench.grep(7) : bench.commands(101));
  loop.run();
}
