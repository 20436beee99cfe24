#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/described.hpp"
#include "models/prices.hpp"

namespace agw {

/// A model of a service, as listed by the service or described in its definition. Unknown facts are unset.
struct ModelEntry {
  std::string id;                              ///< as the service knows it
  std::optional<std::int64_t> context_window;  ///< tokens of prompt and answer together
  std::optional<std::int64_t> max_output;      ///< tokens
  std::optional<bool> vision;
  std::optional<bool> tools;
  std::optional<Price> prices;

  bool operator==(const ModelEntry&) const = default;
};
const Description& describe(Tag<ModelEntry>);

}  // namespace agw
