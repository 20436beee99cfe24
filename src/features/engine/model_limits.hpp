#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "models/catalog.hpp"
#include "models/retry.hpp"

namespace agw {

/// What models take: what is known of them or, where one has refused that, what it took then.
class ModelLimits {
public:
  explicit ModelLimits(const Models& models) : models_(models) {}

  ModelInfo of(const ModelChoice& choice) const;

  /// The model that has `answered` took so much, in tokens, and no more; `max_output_tokens` where that was the reason.
  /// It counts until the gateway ends.
  void lower(const Answered& answered, std::int64_t context_window, std::optional<std::int64_t> max_output_tokens);

private:
  const Models& models_;
  std::map<std::string, ModelInfo, std::less<>> lowered_;  ///< by id
};

}  // namespace agw
