#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "config/keys.hpp"

namespace agw {

namespace {

/// The edit distance: the number of letters to insert, delete or change.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const auto changed = diagonal + (one[i] != other[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// The distance of a key from the written text. The same word in another section, or a prefix, counts as near.
std::size_t key_distance(std::string_view written, std::string_view name) {
  const auto word = last_part(written);
  if (word.size() > 2 && last_part(name).starts_with(word)) return last_part(name) == word ? 0 : 1;
  return std::min(distance(written, name), distance(word, last_part(name)));
}

/// The error for an unknown key. `written` and `names` include their sections.
std::string unknown_key(std::string_view written, const std::vector<std::string>& names) {
  std::string_view nearest;
  std::size_t min_distance = std::clamp<std::size_t>(last_part(written).size() / 2, 1, 3) + 1;
  for (const auto& name : names) {
    const auto far = key_distance(written, name);
    if (far < min_distance) {
      min_distance = far;
      nearest = name;
    }
  }
  return nearest.empty() ? "unknown key" : fmt::format("unknown key; did you mean {}?", nearest);
}

template <class Target>
std::vector<std::string> names_of(const Keys<Target>& keys, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& key : keys) names.push_back(prefix + std::string(key.name));
  return names;
}

bool is_section(const std::string& name) {
  return std::ranges::any_of(settings_keys(), [&](const auto& key) { return key.name.starts_with(name + "."); });
}

std::vector<std::string> names_with_sections() {
  auto names = names_of(settings_keys(), "");
  for (const auto& key : settings_keys()) {
    for (auto dot = key.name.find('.'); dot != key.name.npos; dot = key.name.find('.', dot + 1)) {
      names.emplace_back(key.name.substr(0, dot));
    }
  }
  return names;
}

void read_section(Settings& settings, const ConfigNode& map, const std::string& prefix) {
  for (const auto& entry : map.children) {
    const auto name = prefix + entry.name;
    const auto key = std::ranges::find(settings_keys(), std::string_view(name), &Key<Settings>::name);
    if (key != settings_keys().end()) {
      read_value(*key, name, settings, entry);
    } else if (!is_section(name)) {
      throw ConfigError(entry.line, name, unknown_key(name, names_with_sections()));
    } else if (entry.form == ConfigNode::Form::map) {
      read_section(settings, entry, name + ".");
    } else if (entry.form != ConfigNode::Form::nothing) {
      throw ConfigError(entry.line, name, "must be a section: indent its keys below it");
    }
  }
}

/// Records the lines of both keys for errors when the files are opened.
void read_tls_lines(Settings& settings, const ConfigNode& map) {
  const auto* section = map.member("tls");
  if (!section) return;
  for (const auto& key : section->children) {
    (key.name == "cert" ? settings.tls.cert_at : settings.tls.key_at) = std::to_string(key.line);
  }
  if (settings.tls.cert.empty() == settings.tls.key.empty()) return;
  const auto missing = settings.tls.key.empty() ? "tls.key" : "tls.cert";
  throw ConfigError(section->line, missing, "is required: HTTPS takes tls.cert and tls.key");
}

bool is_provider_name(std::string_view name) {
  const auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '_'; };
  return !name.empty() && std::ranges::all_of(name, fits) && name != "offline";
}

void check_provider(ConfiguredProvider& provider, const std::string& name, int line) {
  if (provider.kind.empty()) {
    const ConfigNode guess{.form = ConfigNode::Form::string, .text = provider.name};
    const auto& kind = provider_keys().front();
    if (!kind.value.read(provider, guess)) throw ConfigError(line, name + ".kind", "is required: " + kind.value.kind);
  }
  if (!provider.api_key_env.empty() && !provider.api_key_file.empty()) {
    throw ConfigError(line, name, "must have api_key_env or api_key_file, not both");
  }
  if (!provider.api.empty() && provider.kind != "openai") {
    throw ConfigError(line, name + ".api", "is only for the kind openai");
  }
}

ConfiguredProvider read_provider(const ConfigNode& map, const std::string& name) {
  ConfiguredProvider provider;
  provider.name = map.name;
  for (const auto& entry : map.children) {
    const auto key = std::ranges::find(provider_keys(), std::string_view(entry.name), &Key<ConfiguredProvider>::name);
    const auto key_name = name + "." + entry.name;
    if (key == provider_keys().end()) {
      throw ConfigError(entry.line, key_name, unknown_key(key_name, names_of(provider_keys(), name + ".")));
    }
    read_value(*key, key_name, provider, entry);
  }
  check_provider(provider, name, map.line);
  return provider;
}

}  // namespace

void read_providers(std::vector<ConfiguredProvider>& providers, const ConfigNode& map) {
  for (const auto& entry : map.children) {
    const auto name = "providers." + entry.name;
    if (!is_provider_name(entry.name)) {
      throw ConfigError(entry.line, name, "the name must be of a-z, 0-9, - and _, and not `offline`");
    }
    if (entry.form != ConfigNode::Form::map && entry.form != ConfigNode::Form::nothing) {
      throw ConfigError(entry.line, name, "must be a section: indent its keys below it");
    }
    providers.push_back(read_provider(entry, name));
  }
}

void read_settings(Settings& settings, const ConfigNode& map) {
  read_section(settings, map, "");
  read_tls_lines(settings, map);
}

}  // namespace agw
