#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config_node.hpp"
#include "config/settings.hpp"

namespace agw {

/// The settings of the next start, if it has the same flags and variables.
struct NextSettings {
  Settings settings;
  ConfigNode file;                     ///< parsed
  std::optional<std::string> problem;  ///< why the gateway could not start; the rest is then unspecified
};

/// Reads the file. Blocks.
NextSettings next_settings(const SettingsSources& sources);

/// New values of entries of the file; nullopt removes an entry.
using Edits = std::vector<std::pair<std::string, std::optional<ConfigNode>>>;

/// Changes entries of the configuration file and nothing else in it, atomically. Throws Conflict, which says why and
/// where to change them by hand, if that is not possible. Blocks.
/// Example: src/features/configuration/file_test.cpp: ConfigurationFile.IsChangedInPlace
void edit_configuration(const SettingsSources& sources, const Edits& edits);

}  // namespace agw
