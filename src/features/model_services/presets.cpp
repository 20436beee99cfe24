#include <string>
#include <string_view>

#include "base/async/assert.hpp"
#include "base/embedded.hpp"
#include "base/json/json_values.hpp"
#include "features/model_services/types.hpp"

namespace agw {

namespace {

constexpr std::string_view presets_path = "share/model-services.jsonc";

/// Moves what clients do not see from the row to the preset.
void take_detection(json::object& members, ModelServicePreset* preset) {
  preset->detect = is_true(members, "detect");
  preset->owned_by = string_or_empty(members, "owned_by");
  members.erase("detect");
  members.erase("owned_by");
}

std::vector<ModelServicePreset> read_presets() {
  std::vector<ModelServicePreset> presets;
  const auto rows = embedded_json(presets_path);
  for (const auto& row : rows.as_array()) {
    auto members = row.as_object();
    for (const auto* flag : {"needs_key", "local"}) members.emplace(flag, false);
    auto* preset = &presets.emplace_back();
    take_detection(members, preset);
    Problems problems;
    read_described(members, describe(Tag<ModelServicePreset>{}), preset, "", problems);
    AGW_CHECK(problems.empty(), std::string(presets_path) + ": " + problems.front().message);
  }
  return presets;
}

}  // namespace

const std::vector<ModelServicePreset>& model_service_presets() {
  static const auto presets = read_presets();
  return presets;
}

json::object definition_of(const ModelServicePreset& preset) {
  json::object definition{{"kind", "model"}, {"api", preset.api}, {"base_url", preset.base_url}};
  if (preset.default_model) definition["default_model"] = *preset.default_model;
  return definition;
}

}  // namespace agw
