// JSON texts: a parsed value is serialised, and the result parses as the same value.

#include "base/json/json.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using agw::fuzzing::require;
  const auto text = agw::fuzzing::text_of(data, size);
  agw::parse_json(text, {.max_depth = 8, .allow_invalid_utf8 = true, .allow_comments = true, .max_values = 100});
  const auto read = agw::parse_json(text);
  if (!read) return 0;
  const auto written = agw::to_json(*read);
  require(agw::is_utf8(written) && written.find('\n') == written.npos);
  const auto again = agw::parse_json(written);
  require(again && agw::to_json(*again) == written);
  return 0;
}
