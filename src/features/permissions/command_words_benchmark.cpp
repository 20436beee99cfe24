#include "features/permissions/command_words.hpp"

#include <benchmark/benchmark.h>

namespace agw {
namespace {

void reading_command_of_a_line(benchmark::State& state) {
  for (auto _ : state) {
    const auto words = words_of_command("git log --oneline -n 20 --author='A B' -- src/storage/writer.cpp");
    benchmark::DoNotOptimize(reading_command(words.value()));
  }
}
BENCHMARK(reading_command_of_a_line)->Name("CommandWords.ReadingCommand");

}  // namespace
}  // namespace agw
