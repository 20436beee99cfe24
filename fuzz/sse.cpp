// Streams of events and lines: however they are split, they are the same frames.

#include <memory>
#include <string>

#include "fuzz/support/fuzzing.hpp"
#include "models/frames.hpp"

namespace {

using Split = std::unique_ptr<agw::FrameSplitter> (*)(agw::OnFrame, std::size_t);

std::string frames(Split split, std::string_view bytes, std::size_t step) {
  std::string seen;
  const auto splitter = split(
      [&](const agw::Frame& frame) {
        for (const auto part : {frame.event, frame.data, frame.id, frame.retry}) seen.append(part).push_back('\0');
      },
      4096);
  bool goes_on = true;
  while (goes_on && !bytes.empty()) {
    goes_on = splitter->feed(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  if (goes_on) splitter->finish();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = agw::fuzzing::text_of(data, size);
  for (const auto split : {Split(agw::split_events), Split(agw::split_lines)}) {
    const auto whole = frames(split, bytes, std::max<std::size_t>(size, 1));
    for (const std::size_t step : {1, 2, 7}) agw::fuzzing::require(frames(split, bytes, step) == whole);
  }
  return 0;
}
