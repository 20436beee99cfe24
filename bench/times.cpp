#include "bench/times.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>

#include "bench/net.hpp"

namespace agw::bench {

std::string Times::to_json() {
  std::ranges::sort(times_);
  const auto at = [&](double part) {
    return times_.empty() ? 0.0 : times_[static_cast<std::size_t>(part * static_cast<double>(times_.size() - 1))];
  };
  return "{\"count\": " + std::to_string(count()) + ", \"p50\": " + std::to_string(at(0.5)) +
         ", \"p99\": " + std::to_string(at(0.99)) + ", \"max\": " + std::to_string(at(1)) + "}";
}

std::size_t collect_delays(std::string_view text, Times& delays) {
  const std::int64_t time = now();
  std::size_t behind = 0;
  for (auto at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    const auto end = text.find(' ', at);
    if (end == text.npos) break;
    std::int64_t written = 0;
    if (std::from_chars(text.data() + at + 1, text.data() + end, written).ptr == text.data() + end) {
      delays.add(static_cast<double>(time - written) / 1e9);
    }
    behind = end + 1;
  }
  return behind;
}

}  // namespace agw::bench
