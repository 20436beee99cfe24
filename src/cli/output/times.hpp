#pragma once

#include <string>
#include <string_view>

namespace agw::cli {

/// A record's ISO 8601 time in the local zone, to the minute: `2026-01-02 03:04`. Any other text stays unchanged.
std::string local_time(std::string_view iso8601);

/// `5 s`, `2 min 5 s`, `3 h 2 min`, `4 d 3 h`.
std::string duration_text(double seconds);

}  // namespace agw::cli
