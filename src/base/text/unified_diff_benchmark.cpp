#include "base/text/unified_diff.hpp"

#include <algorithm>
#include <string>

#include <benchmark/benchmark.h>

namespace agw {
namespace {

std::string lines(int count, int changed_every) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i % changed_every == 7 ? "changed " : "line ") + std::to_string(i) + " of a file with some text in it\n";
  return text;
}

const std::string before = lines(1000, 1'000'000);
const std::string after = lines(1000, 100);

void compare(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(unified_diff(before, after, "a", "b"));
}
BENCHMARK(compare)->Name("UnifiedDiff.TenOf1000LinesChanged");

/// The least that any comparison does: reads both texts.
void count_lines(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::ranges::count(before, '\n'));
    benchmark::DoNotOptimize(std::ranges::count(after, '\n'));
  }
}
BENCHMARK(count_lines)->Name("UnifiedDiff.TenOf1000LinesChanged/floor");

}  // namespace
}  // namespace agw
