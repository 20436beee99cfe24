#pragma once

#include <string>

#include "config/keys.hpp"
#include "config/settings.hpp"

namespace agw {

/// What determines the value of a setting.
enum class ValueSource { flag, variable, file, built_in };

struct Origin {
  ValueSource source = ValueSource::built_in;
  int line = 0;  ///< of its entry in the file, even if a flag or a variable overrides it; 0 if there is none
};

/// Returns what determines the value of `key`; `file` is the parsed file.
Origin origin_of(const Key<Settings>& key, const SettingsSources& sources, const ConfigNode& file);

}  // namespace agw
