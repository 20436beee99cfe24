#include "base/cron.hpp"

#include <benchmark/benchmark.h>

namespace agw {
namespace {

const Timestamp some_day{std::chrono::sys_days{std::chrono::year(2026) / 11 / 27}};

void next_time(benchmark::State& state, const char* expression) {
  const Cron cron(expression);
  const auto zone = TimeZone::named("Europe/Berlin").value();
  for (auto _ : state) benchmark::DoNotOptimize(cron.next(some_day, zone));
}
BENCHMARK_CAPTURE(next_time, daily, "30 7 * * *")->Name("Cron.NextOfADailyJob");
BENCHMARK_CAPTURE(next_time, leap_day, "0 0 29 2 *")->Name("Cron.NextLeapDay");

void read_expression(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Cron("*/15 8-18 * * MON-FRI"));
}
BENCHMARK(read_expression)->Name("Cron.Read");

}  // namespace
}  // namespace agw
