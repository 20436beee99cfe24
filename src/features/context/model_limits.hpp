#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "models/catalog.hpp"
#include "models/retry.hpp"

namespace agw {

/// The limits of models: the known ones, or lower ones if a model has refused a request within the known ones.
/// Example: src/features/context/model_limits_test.cpp: ModelLimits.AreOnlyEverLowered
class ModelLimits {
public:
  explicit ModelLimits(const Models& models) : models_(models) {}

  ModelInfo of(const ModelChoice& choice) const;

  /// Notes that the model of `completion` accepted `context_window` tokens and no more. `max_output_tokens` has a value
  /// if the maximum length of the answer had to be reduced. Both apply until the gateway ends.
  void lower(const Completion& completion, std::int64_t context_window, std::optional<std::int64_t> max_output_tokens);

private:
  const Models& models_;
  std::map<std::string, ModelInfo, std::less<>> lowered_;  ///< by id
};

}  // namespace agw
