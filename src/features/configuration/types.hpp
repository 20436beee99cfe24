#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

enum class ValueForm;
std::span<const EnumName> names(Tag<ValueForm>);
enum class ValueSource;
std::span<const EnumName> names(Tag<ValueSource>);

/// A key of config.yaml and its value.
struct Setting {
  std::string key;    ///< with dots, such as `retention.days`
  std::string about;  ///< a sentence
  ValueForm form{};
  std::string must_be;               ///< follows "must be": `a whole number from 1 to 36500`
  std::vector<std::string> choices;  ///< of a choice
  std::optional<double> min;
  std::optional<double> max;
  json::value default_value;        ///< null: none
  json::value value;                ///< in effect; null: none, or it is secret
  bool secret = false;              ///< the value may contain a password and is never sent
  bool given = false;               ///< there is a value other than the default, which may be secret
  ValueSource source{};             ///< what determines the value
  std::optional<std::string> name;  ///< of the flag or the variable that determines it
  std::optional<int> line;          ///< of the entry in the file
  bool editable = false;            ///< `PATCH /configuration` can change it
  bool at_once = false;             ///< a change takes effect at once, otherwise at the next start
  bool waits_for_restart = false;   ///< the file has another value, `next_value`, than is in effect
  std::optional<json::value> next_value;
};
const Description& describe(Tag<Setting>);

/// `GET /configuration`.
struct ConfigurationReport {
  std::string file;                    ///< the path of config.yaml
  std::optional<std::string> problem;  ///< why the gateway could not start with the file as it is now
  std::vector<Setting> settings;
};
const Description& describe(Tag<ConfigurationReport>);

}  // namespace agw
