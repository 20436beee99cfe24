#include <algorithm>

#include "base/async/assert.hpp"
#include "base/embedded.hpp"
#include "base/json/yaml.hpp"
#include "features/model_services/types.hpp"

namespace agw {

namespace {

constexpr std::string_view presets_path = "share/model-services.yaml";

std::vector<ModelServicePreset> read_presets() {
  const auto files = embedded_files();
  const auto file = std::ranges::find(files, presets_path, &EmbeddedFile::path);
  AGW_CHECK(file != files.end(), "share/model-services.yaml was not compiled in");
  std::vector<ModelServicePreset> presets;
  const auto rows = yaml_to_json(file->content);
  for (const auto& row : rows.as_array()) {
    auto members = row.as_object();
    for (const auto* flag : {"needs_key", "local"}) members.emplace(flag, false);
    Problems problems;
    read_described(members, describe(Tag<ModelServicePreset>{}), &presets.emplace_back(), "", problems);
    AGW_CHECK(problems.empty(), "share/model-services.yaml: " + problems.front().message);
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
