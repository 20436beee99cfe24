#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_node.hpp"
#include "config/settings.hpp"

namespace agw {

/// An invalid item of a list. Thrown by `Value::read`.
struct InvalidItem {
  const ConfigNode& item;
};

/// How a key's value is read into a `Target` and shown.
template <class Target>
struct Value {
  std::string kind;                                      ///< follows "must be" in error messages
  std::function<bool(Target&, const ConfigNode&)> read;  ///< false if it is not of this kind
  std::function<std::string(const Target&)> show;        ///< as YAML; empty if there is no value
};

/// One key of the configuration, with everything known about it.
template <class Target>
struct Key {
  std::string_view name;  ///< with dots, such as `limits.body_mib`
  std::string_view text;
  Value<Target> value;
  std::string_view example = {};      ///< for the example file, if there is no default to show
  std::string_view environment = {};  ///< the variable, if any
  std::string_view flag = {};         ///< of `agw serve`, if any
};

template <class Target>
using Keys = std::vector<Key<Target>>;

/// All keys, in the order of the example file; the keys of a section are adjacent.
const Keys<Settings>& settings_keys();

/// The keys of one provider, below `providers.<name>`.
const Keys<ConfiguredProvider>& provider_keys();

/// Reads the members of a map, and those of its sections. Throws ConfigError for an invalid value.
void read_settings(Settings& settings, const ConfigNode& map);

/// Reads the member `providers`: a map of maps.
void read_providers(std::vector<ConfiguredProvider>& providers, const ConfigNode& map);

/// Reads one value; without a value the default stays. Throws ConfigError under `name` if it is invalid.
template <class Target>
void read_value(const Key<Target>& key, const std::string& name, Target& target, const ConfigNode& entry) {
  if (entry.form == ConfigNode::Form::nothing) return;
  try {
    if (!key.value.read(target, entry)) throw ConfigError(entry.line, name, "must be " + key.value.kind);
  } catch (const InvalidItem& bad) {
    const auto which = bad.item.text.empty() ? "what stands here" : bad.item.text;
    throw ConfigError(bad.item.line, name, "must be " + key.value.kind + ", and " + which + " is none");
  }
}

}  // namespace agw
