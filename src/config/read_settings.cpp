#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "config/keys.hpp"

namespace agw {

namespace {

/// How many letters must be put in, taken out or changed to make one word of the other.
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

/// How far a key is from what somebody wrote: the same word in another section, or its beginning, is near.
std::size_t how_far(std::string_view written, std::string_view name) {
  const auto word = last_part(written);
  if (word.size() > 2 && last_part(name).starts_with(word)) return last_part(name) == word ? 0 : 1;
  return std::min(distance(written, name), distance(word, last_part(name)));
}

/// `written` and `names` are whole, with their sections.
std::string unknown_key(std::string_view written, const std::vector<std::string>& names) {
  std::string_view nearest;
  std::size_t least = std::clamp<std::size_t>(last_part(written).size() / 2, 1, 3) + 1;
  for (const auto& name : names) {
    const auto far = how_far(written, name);
    if (far < least) {
      least = far;
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

void read_section(Settings& settings, const Given& map, const std::string& prefix) {
  for (const auto& given : map.children) {
    const auto name = prefix + given.name;
    const auto key = std::ranges::find(settings_keys(), std::string_view(name), &Key<Settings>::name);
    if (key != settings_keys().end()) {
      read_value(*key, name, settings, given);
    } else if (!is_section(name)) {
      throw BadValue(given.line, name, unknown_key(name, names_with_sections()));
    } else if (given.form == Given::Form::map) {
      read_section(settings, given, name + ".");
    } else if (given.form != Given::Form::nothing) {
      throw BadValue(given.line, name, "must be a section: its keys stand below it, indented");
    }
  }
}

/// Both files are needed; where each is named is noted, for what is found when they are opened.
void read_tls_lines(Settings& settings, const Given& map) {
  const auto section = std::ranges::find(map.children, "tls", &Given::name);
  if (section == map.children.end()) return;
  for (const auto& key : section->children) {
    (key.name == "cert" ? settings.tls.cert_at : settings.tls.key_at) = std::to_string(key.line);
  }
  if (settings.tls.cert.empty() == settings.tls.key.empty()) return;
  const auto missing = settings.tls.key.empty() ? "tls.key" : "tls.cert";
  throw BadValue(section->line, missing, "is required: HTTPS takes tls.cert and tls.key");
}

bool is_provider_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  return !name.empty() && std::ranges::all_of(name, fits) && name != "offline";
}

void check_provider(ConfiguredProvider& provider, const std::string& name, int line) {
  if (provider.kind.empty()) {
    const Given guess{.form = Given::Form::string, .text = provider.name};
    const auto& kind = provider_keys().front();
    if (!kind.value.read(provider, guess)) throw BadValue(line, name + ".kind", "is required: " + kind.value.kind);
  }
  if (!provider.api_key_env.empty() && !provider.api_key_file.empty()) {
    throw BadValue(line, name, "must have api_key_env or api_key_file, not both");
  }
  if (!provider.api.empty() && provider.kind != "openai") {
    throw BadValue(line, name + ".api", "is only for the kind openai");
  }
}

ConfiguredProvider read_provider(const Given& map, const std::string& name) {
  ConfiguredProvider provider;
  provider.name = map.name;
  for (const auto& given : map.children) {
    const auto key = std::ranges::find(provider_keys(), std::string_view(given.name), &Key<ConfiguredProvider>::name);
    const auto key_name = name + "." + given.name;
    if (key == provider_keys().end()) {
      throw BadValue(given.line, key_name, unknown_key(key_name, names_of(provider_keys(), name + ".")));
    }
    read_value(*key, key_name, provider, given);
  }
  check_provider(provider, name, map.line);
  return provider;
}

}  // namespace

void read_providers(std::vector<ConfiguredProvider>& providers, const Given& map) {
  for (const auto& given : map.children) {
    const auto name = "providers." + given.name;
    if (!is_provider_name(given.name)) {
      throw BadValue(given.line, name, "the name must be of a-z, 0-9, - and _, and not `offline`");
    }
    if (given.form != Given::Form::map && given.form != Given::Form::nothing) {
      throw BadValue(given.line, name, "must be a section: its keys stand below it, indented");
    }
    providers.push_back(read_provider(given, name));
  }
}

void read_settings(Settings& settings, const Given& map) {
  read_section(settings, map, "");
  read_tls_lines(settings, map);
}

}  // namespace agw
