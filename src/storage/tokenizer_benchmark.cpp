#include "storage/tokenizer.hpp"

#include <string>

#include <benchmark/benchmark.h>

namespace agw {
namespace {

std::string repeated(std::string_view sentence) {
  std::string text;
  while (text.size() < 8 * 1024) text += sentence;
  return text;
}

void split(benchmark::State& state, const std::string& text) {
  Connection connection(":memory:", Connection::Access::read_write);
  const Tokenizer tokenizer(connection);
  for (auto _ : state) {
    std::size_t words = 0;
    tokenizer.for_each_word(text, [&](std::string_view) { ++words; });
    benchmark::DoNotOptimize(words);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK_CAPTURE(split, ascii, repeated("The quick brown fox jumps over 13 lazy dogs; nobody knows why. "))
    ->Name("Tokenizer.Ascii8KiB");
BENCHMARK_CAPTURE(split, accented, repeated("Der flinke Fuchs überholt die müde Hündin über große Straßen. "))
    ->Name("Tokenizer.Accented8KiB");

}  // namespace
}  // namespace agw
