#include "models/known_models.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/embedded.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

KnownModel read_row(std::optional<ProviderKind> kind, std::string_view id, const json::object& row) {
  const auto amount = [&](const char* name) { return row.at(name).to_number<double>(); };
  std::optional<Price> price;
  if (row.contains("input")) price = {amount("input"), amount("output"), amount("cache_read"), amount("cache_write")};
  return {std::string(id),
          kind,
          row.at("context_window").as_int64(),
          row.at("max_output_tokens").as_int64(),
          row.at("vision").as_bool(),
          price};
}

std::vector<KnownModel> read_table() {
  std::vector<KnownModel> models;
  const auto table = embedded_json("share/models.jsonc");
  const auto read_group = [&](std::optional<ProviderKind> kind, std::string_view name) {
    for (const auto& [id, row] : table.at(name).as_object()) models.push_back(read_row(kind, id, row.as_object()));
  };
  for (const auto kind : {ProviderKind::anthropic, ProviderKind::openai, ProviderKind::gemini}) {
    read_group(kind, to_string(kind));
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
  const auto digits = std::ranges::count_if(text, is_digit);
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
