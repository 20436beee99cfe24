#pragma once

#include <vector>

#include "features/model_services/types.hpp"

namespace agw {

/// The rows of share/model-services.yaml, in its order. Read on the first call.
const std::vector<ModelServicePreset>& model_service_presets();

/// The definition that connects the preset as it stands, without a key.
json::object definition_of(const ModelServicePreset& preset);

}  // namespace agw
