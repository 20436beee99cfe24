// Measures searches and lists, without HTTP, in a data directory that seed_turns has filled: elapsed time, and
// processor time, which other programs affect less.
//
// search_times <directory> [agent]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "bench/threads_program.hpp"
#include "bench/words.hpp"

namespace {

using namespace agw;
using Time = std::chrono::steady_clock;

constexpr int repetitions = 300;

/// Returns the process's processor time in milliseconds.
double processor_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto milliseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

/// Runs the tasks that `make` returns, one at a time, and prints a line about them.
Task<> measure(std::string name, std::function<Task<std::string>()> make) {
  std::vector<double> times;
  std::size_t bytes = 0;
  const double before = processor_time();
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Time::now();
    bytes += (co_await make()).size();
    times.push_back(std::chrono::duration<double, std::milli>(Time::now() - start).count());
  }
  const double spent = (processor_time() - before) / repetitions;
  std::ranges::sort(times);
  std::printf("%-40s processor %6.2f  p50 %6.2f  p99 %6.2f  max %6.2f ms  %6zu bytes\n", name.c_str(), spent,
              times[repetitions / 2], times[repetitions * 99 / 100], times.back(), bytes / repetitions);
}

Task<> measure_searches(Threads& threads, std::string agent, std::optional<std::string> thread, bench::Words& words) {
  const std::vector<std::pair<std::string, std::function<std::string()>>> kinds{
      {"common", [&] { return words.word(1, 50); }},
      {"middling", [&] { return words.word(100, 1000); }},
      {"rare", [&] { return words.word(10'000, 49'999); }},
      {"two common", [&] { return words.word(1, 50) + " " + words.word(1, 50); }},
      {"two middling", [&] { return words.word(100, 1000) + " " + words.word(100, 1000); }},
      {"common and middling", [&] { return words.word(1, 50) + " " + words.word(100, 1000); }},
      {"three common and a rare", [&] { return words.text(3) + words.word(5000, 49'999); }},
      {"any of two", [&] { return words.word(1, 1000) + " OR " + words.word(100, 10'000); }},
      {"one without another", [&] { return words.word(100, 1000) + " NOT " + words.word(1, 50); }},
      {"phrase", [&] { return "\"" + words.word(1, 200) + " " + words.word(1, 200) + "\""; }},
      {"short prefix", [&] { return "w" + std::to_string(words.number(1, 9)) + "*"; }},
      {"long prefix", [&] { return words.word(1000, 4999) + "*"; }},
  };
  for (const auto& [name, query] : kinds) {
    co_await measure(std::string(thread ? "thread: " : "agent: ") + name, [&]() -> Task<std::string> {
      return threads.search_text({.q = query(), .agent_id = agent, .thread_id = thread});
    });
  }
}

Task<> measure_all(Threads& threads, std::string agent) {
  bench::Words words(2);
  const auto listed = co_await threads.list({.agent_id = agent, .limit = Limit{1000}});
  if (listed.empty()) throw std::runtime_error("no threads of " + agent);
  const auto any = [&] {
    return listed[static_cast<std::size_t>(words.number(0, static_cast<int>(listed.size()) - 1))];
  };
  co_await measure_searches(threads, agent, std::nullopt, words);
  co_await measure_searches(threads, agent, listed.front().id, words);
  co_await measure("page of 50 turns", [&] { return threads.turns_text(any().id, {}); });
  co_await measure("page of 50 turns of a role",
                   [&] { return threads.turns_text(any().id, {.role = ListedRole::assistant}); });
  co_await measure("50 threads", [&] { return threads.list_text({.limit = Limit{50}}); });
  co_await measure("50 threads of the agent",
                   [&] { return threads.list_text({.agent_id = agent, .limit = Limit{50}, .before = any().id}); });
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: search_times <directory> [agent]\n");
    return 2;
  }
  const std::string agent = count > 2 ? arguments[2] : "assistant";
  return bench::with_threads(arguments[1], [&](Threads& threads, Database&) { return measure_all(threads, agent); });
}
