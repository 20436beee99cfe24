#include "models/known_models.hpp"

#include <algorithm>
#include <unordered_map>

#include <yaml-cpp/yaml.h>

#include "base/async/assert.hpp"
#include "base/embedded.hpp"

namespace agw {

namespace {

constexpr std::string_view table_path = "share/models.yaml";

std::string table_text() {
  const auto files = embedded_files();
  const auto file = std::ranges::find(files, table_path, &EmbeddedFile::path);
  AGW_CHECK(file != files.end(), "share/models.yaml was not compiled in");
  return std::string(file->content);
}

KnownModel read_row(std::optional<ProviderKind> kind, const std::string& id, const YAML::Node& row) {
  const auto amount = [&](const char* name) { return row[name].as<double>(); };
  std::optional<Price> price;
  if (row["input"]) price = {amount("input"), amount("output"), amount("cache_read"), amount("cache_write")};
  return {id,
          kind,
          row["context_window"].as<std::int64_t>(),
          row["max_output_tokens"].as<std::int64_t>(),
          row["vision"].as<bool>(),
          price};
}

std::vector<KnownModel> read_table() {
  std::vector<KnownModel> models;
  const auto table = YAML::Load(table_text());
  const auto read_group = [&](std::optional<ProviderKind> kind, const std::string& name) {
    for (const auto& entry : table[name]) models.push_back(read_row(kind, entry.first.as<std::string>(), entry.second));
  };
  for (const auto kind : {ProviderKind::anthropic, ProviderKind::openai, ProviderKind::gemini}) {
    read_group(kind, std::string(to_string(kind)));
  }
  read_group(std::nullopt, "others");
  return models;
}

/// The names refer to `models`. Services list up to 50,000 models, so each is to be found quickly.
std::unordered_map<std::string_view, const KnownModel*> index_by_id(const std::vector<KnownModel>& models) {
  std::unordered_map<std::string_view, const KnownModel*> by_id;
  for (const auto& model : models) by_id.emplace(model.id, &model);
  return by_id;
}

bool is_version(std::string_view text) {
  if (text == "latest") return true;
  const auto digits = std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; });
  const auto dashes = std::ranges::count(text, '-');
  return digits == 8 && static_cast<std::size_t>(digits + dashes) == text.size() && (dashes == 0 || dashes == 2);
}

}  // namespace

const std::vector<KnownModel>& known_models() {
  static const auto models = read_table();
  return models;
}

const KnownModel* find_known_model(std::string_view id) {
  static const auto by_id = index_by_id(known_models());
  const auto find = [](std::string_view name) {
    const auto found = by_id.find(name);
    return found == by_id.end() ? nullptr : found->second;
  };
  if (const auto* model = find(id)) return model;
  for (auto dash = id.rfind('-'); dash != id.npos && dash > 0; dash = id.rfind('-', dash - 1)) {
    if (!is_version(id.substr(dash + 1))) continue;
    if (const auto* model = find(id.substr(0, dash))) return model;
  }
  return nullptr;
}

}  // namespace agw
