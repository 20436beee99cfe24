// Cron expressions: they are rejected with a reason, or their next times are strictly increasing.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/cron.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto zone = *agw::TimeZone::named("UTC");
  try {
    const agw::Cron cron({reinterpret_cast<const char*>(data), size});
    auto time = *agw::parse_iso8601("2026-01-02T03:04:05Z");
    for (int times = 0; times < 3; ++times) {
      const auto next = cron.next(time, zone);
      if (!next) return 0;
      if (*next <= time || !cron.ever_fires()) std::abort();
      time = *next;
    }
  } catch (const agw::CronError&) {
  }
  return 0;
}
