#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/given.hpp"
#include "config/settings.hpp"

namespace agw {

/// An item of a list that is not of its kind. Thrown by `Value::read`.
struct BadItem {
  const Given& item;
};

/// How a key's value is read into a `Target` and shown.
template <class Target>
struct Value {
  std::string kind;                                 ///< reads behind "must be"
  std::function<bool(Target&, const Given&)> read;  ///< false for what is not of the kind
  std::function<std::string(const Target&)> show;   ///< as YAML; empty where there is none
};

/// One key of the configuration: all that is known of it stands here.
template <class Target>
struct Key {
  std::string_view name;  ///< with dots, such as `limits.body_mib`
  std::string_view text;
  Value<Target> value;
  std::string_view example = {};      ///< for the example file, where there is no default to show
  std::string_view environment = {};  ///< the variable, if any
  std::string_view flag = {};         ///< of `agw serve`, if any
};

template <class Target>
using Keys = std::vector<Key<Target>>;

/// Every key, in the order of the example file; the keys of a section stand together.
const Keys<Settings>& settings_keys();

/// The keys of one provider, below `providers.<name>`.
const Keys<ConfiguredProvider>& provider_keys();

/// Reads the members of a map, and those of the sections in it. Throws BadValue for what does not fit.
void read_settings(Settings& settings, const Given& map);

/// Reads the member `providers`: a map of maps.
void read_providers(std::vector<ConfiguredProvider>& providers, const Given& map);

/// Reads one value; nothing given leaves the default. Throws BadValue under `name` for what does not fit.
template <class Target>
void read_value(const Key<Target>& key, const std::string& name, Target& target, const Given& given) {
  if (given.form == Given::Form::nothing) return;
  try {
    if (!key.value.read(target, given)) throw BadValue(given.line, name, "must be " + key.value.kind);
  } catch (const BadItem& bad) {
    const auto which = bad.item.text.empty() ? "what stands here" : bad.item.text;
    throw BadValue(bad.item.line, name, "must be " + key.value.kind + ", and " + which + " is none");
  }
}

}  // namespace agw
