#include "server/websocket/websocket_frame.hpp"

#include <string>

#include <benchmark/benchmark.h>

namespace agw::websocket {
namespace {

const std::string payload(16 * 1024, 'a');

/// A frame as clients send it (RFC 6455, 5.3). With a mask of zeros, the payload stays readable.
std::string masked_frame() {
  auto header = frame_header(Opcode::text, payload.size());
  header[1] = static_cast<char>(header[1] | '\x80');
  return header + std::string(4, '\0') + payload;
}

void read_frame(benchmark::State& state) {
  const auto bytes = masked_frame();
  FrameReader reader;
  for (auto _ : state) {
    reader.put(bytes);
    benchmark::DoNotOptimize(reader.next());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(read_frame)->Name("FrameReader.MessageOf16KiB");

void copy_frame(benchmark::State& state) {
  const auto bytes = masked_frame();
  for (auto _ : state) {
    std::string buffer = bytes;
    benchmark::DoNotOptimize(buffer);
    benchmark::DoNotOptimize(buffer.substr(bytes.size() - payload.size()));
  }
}
BENCHMARK(copy_frame)->Name("FrameReader.MessageOf16KiB/floor");

}  // namespace
}  // namespace agw::websocket
