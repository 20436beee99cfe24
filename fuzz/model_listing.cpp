// Lists of models, in any of the forms that services send.

#include "models/model_listing.hpp"

#include <cmath>

#include "base/json/json.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Kind = agw::ProviderKind;
  for (const auto kind : {Kind::anthropic, Kind::openai, Kind::ollama, Kind::gemini}) {
    for (const auto& model : agw::read_listing(kind, agw::fuzzing::text_of(data, size)).models) {
      agw::fuzzing::require(!model.id.empty() && agw::is_utf8(model.id));
      const auto prices = model.prices.value_or(agw::Price{});
      for (const auto price : {prices.input, prices.output, prices.cache_read, prices.cache_write}) {
        agw::fuzzing::require(price >= 0 && std::isfinite(price));
      }
    }
  }
  return 0;
}
