#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/prices.hpp"
#include "models/settings.hpp"

namespace agw {

/// A row of share/models.jsonc.
struct KnownModel {
  std::string id;
  std::optional<ProviderKind> kind;  ///< of the vendor's own service; unset if that has another vendor's API
  std::int64_t context_window = 0;   ///< tokens of prompt and answer together
  std::int64_t max_output_tokens = 0;
  bool vision = false;
  std::optional<Price>
      price;  ///< unset if it depends on the service, or if the id is moved to models with other prices
};

/// All rows, in the file's order. Read on the first call, not at startup.
const std::vector<KnownModel>& known_models();

/// The row of `id`, with or without its date suffix (`-20251001`, `-2024-08-06`, `-latest`); nullptr if unknown.
const KnownModel* find_known_model(std::string_view id);

}  // namespace agw
