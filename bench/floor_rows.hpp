#pragma once

#include <array>
#include <cstdio>
#include <string>

// The rows that the bare loops insert, so that they do the same work as the gateway.

constexpr int thread_count = 64;
/// The number of turns that are stored in a thread's row before they move to their table, as in the gateway.
constexpr int entered_at_once = 16;

/// Ids with the length and time order of the gateway's.
inline std::string id(long number) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%012lx-7000-8000-%012lx", static_cast<unsigned long>(number),
                static_cast<unsigned long>(number * 2654435761));
  return text.data();
}
