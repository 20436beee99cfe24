#include "config/settings.hpp"

#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "config/environment.hpp"
#include "config/keys.hpp"

namespace agw {

namespace {

/// The YAML parser takes longer than the rest of startup, so a file with only comments is not parsed.
bool has_only_comments(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first != line.npos && line[first] != '#') return false;
  }
  return true;
}

void read_file_into(Settings& settings, const std::filesystem::path& file, bool must_exist) {
  const auto text = read_start_file(file);
  if (!text && must_exist)
    throw StartError(ExitStatus::usage, fmt::format("{}: cannot be read: No such file or directory", file.string()));
  if (!text || has_only_comments(*text)) return;
  try {
    read_settings(settings, parse_yaml(*text));
    for (auto* line : {&settings.tls.cert_at, &settings.tls.key_at}) {
      if (!line->empty()) *line = fmt::format("{}:{}", file.string(), *line);
    }
  } catch (const ConfigError& bad) {
    throw StartError(ExitStatus::usage, fmt::format("{}:{}: {}: {}", file.string(), bad.line(), bad.key(), bad.what()));
  }
}

/// Paths in the file are relative to its directory, or to home with `~/`.
void resolve_paths(Settings& settings, const SettingsSources& sources) {
  const auto home = sources.environment("HOME");
  const auto resolve = [&](std::filesystem::path& path) {
    if (path.empty()) return;
    const bool at_home = home && path.native().starts_with("~/");
    path = at_home ? *home / std::filesystem::path(path.native().substr(2)) : sources.file.parent_path() / path;
  };
  resolve(settings.tls.cert);
  resolve(settings.tls.key);
  resolve(settings.web_search.api_key_file);
  for (auto& provider : settings.providers) resolve(provider.api_key_file);
}

/// `source` is the flag or the variable.
void read_text_into(Settings& settings, const Key<Settings>& key, std::string_view source, const std::string& text) {
  try {
    read_value(key, std::string(source), settings, ConfigNode{.text = text});
  } catch (const ConfigError& bad) {
    throw StartError(ExitStatus::usage, fmt::format("{}: {}", bad.key(), bad.what()));
  }
}

}  // namespace

Settings load_settings(const SettingsSources& sources) {
  Settings settings;
  read_file_into(settings, sources.file, sources.file_must_exist);
  resolve_paths(settings, sources);
  apply_environment(settings.providers, sources.environment);
  for (const auto& key : settings_keys()) {
    if (key.environment.empty()) continue;
    const auto text = sources.environment(std::string(key.environment));
    if (text) read_text_into(settings, key, key.environment, *text);
  }
  for (const auto& key : settings_keys()) {
    const auto flag = sources.flags.find(std::string(key.name));
    if (flag != sources.flags.end()) read_text_into(settings, key, key.flag, flag->second);
  }
  return settings;
}

}  // namespace agw
