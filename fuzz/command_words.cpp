// Command lines for which grants may apply: a line is rejected, or its words, written as a line, are parsed as the same
// words.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "features/permissions/command_words.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto words = agw::words_of_command({reinterpret_cast<const char*>(data), size});
  if (!words) return 0;
  if (agw::words_of_command(agw::quoted_words(*words)) != words) std::abort();
  agw::reading_command(*words);
  return 0;
}
