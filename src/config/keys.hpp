#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "config/config_node.hpp"
#include "config/settings.hpp"

namespace agw {

/// An invalid item of a list. Thrown by `Value::read`.
struct InvalidItem {
  const ConfigNode& item;
};

/// The control in which a person sees and changes a value.
enum class ValueForm { number, whole_number, choice, text, texts, names };

/// Reads a key's value into a `Target` and returns it.
template <class Target>
struct Value {
  std::string kind;                                      ///< follows "must be" in error messages
  std::function<bool(Target&, const ConfigNode&)> read;  ///< returns false if the value is not of this kind
  std::function<json::value(const Target&)> get;         ///< null if there is no value
  ValueForm form = ValueForm::text;
  std::vector<std::string> choices = {};
  std::optional<double> min = {};
  std::optional<double> max = {};
};

/// Who may change a setting while the gateway runs, and when that takes effect. Whoever has the token can change those
/// that are not `in_file`, so a setting that protects the machine must be `in_file`: it decides which programs run, who
/// reaches the gateway, what agents reach, or which servers get keys and conversations.
enum class Changeable { in_file, at_next_start, at_once };

/// The complete description of one configuration key.
template <class Target>
struct Key {
  std::string_view name;  ///< with dots, such as `limits.body_mib`
  std::string_view text;
  Value<Target> value;
  std::string_view example = {};      ///< for the example file, if there is no default
  std::string_view environment = {};  ///< the environment variable, if any
  std::string_view flag = {};         ///< the flag of `agw serve`, if any
  Changeable change = Changeable::in_file;
  bool is_secret = false;  ///< the value may contain a password
};

template <class Target>
using Keys = std::vector<Key<Target>>;

/// All keys, in the order of the example file; the keys of a section are adjacent.
const Keys<Settings>& settings_keys();

/// The keys of one provider, below `providers.<name>`.
const Keys<ConfiguredProvider>& provider_keys();

/// Reads the members of a map and of its sections. Throws ConfigError for an invalid value.
void read_settings(Settings& settings, const ConfigNode& map);

/// Reads the member `providers`: a map of maps.
void read_providers(std::vector<ConfiguredProvider>& providers, const ConfigNode& map);

/// Reads one value; without a value, the default is kept. Throws ConfigError under `name` if it is invalid.
template <class Target>
void read_value(const Key<Target>& key, const std::string& name, Target& target, const ConfigNode& entry) {
  if (entry.form == ConfigNode::Form::nothing) return;
  try {
    if (!key.value.read(target, entry)) throw ConfigError(entry.line, name, "must be " + key.value.kind);
  } catch (const InvalidItem& bad) {
    const auto which = bad.item.text.empty() ? "this item" : bad.item.text;
    throw ConfigError(bad.item.line, name, "must be " + key.value.kind + "; " + which + " is invalid");
  }
}

}  // namespace agw
