#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"
#include "models/model_entry.hpp"

namespace agw {

/// A model service with known connection settings (share/model-services.jsonc).
struct ModelServicePreset {
  std::string name;   ///< the suggested name of its extension
  std::string label;  ///< for people
  std::string api;    ///< as in a definition
  std::string base_url;
  std::optional<std::string> key_url;  ///< the page on which a person gets a key
  bool needs_key = false;
  std::optional<std::string> key_header;  ///< the header for the key, if it is not the API's own
  std::optional<std::string> default_model;
  bool local = false;               ///< runs on this machine
  std::optional<std::string> note;  ///< what a person needs to know or enter

  // Not shown to clients.
  bool detect = false;     ///< `detect` looks for it at `base_url`
  std::string owned_by{};  ///< as its list names the owner of its models; empty if it names none
};
const Description& describe(Tag<ModelServicePreset>);

/// The query of `GET /models`.
struct ModelsQuery {
  bool refresh = false;  ///< requests the lists of all services first
};
const Description& describe(Tag<ModelsQuery>);

/// The body of `POST /model-services/check`.
struct ServiceCheck {
  json::object definition;         ///< like that of an integration of kind `model`
  std::optional<std::string> key;  ///< used instead of every secret in the definition; not stored
};
const Description& describe(Tag<ServiceCheck>);

/// The response of `POST /model-services/check`.
struct CheckedService {
  bool ok = false;
  std::vector<ModelEntry> models;
  std::optional<std::string> error;  ///< what is wrong and what to do
};
const Description& describe(Tag<CheckedService>);

/// A running service on this machine.
struct DetectedService {
  std::string name;   ///< of its preset
  std::string label;  ///< for people
  json::object definition;
  std::vector<ModelEntry> models;
};
const Description& describe(Tag<DetectedService>);

/// The source of a setting.
enum class SettingSource {
  config,     ///< config.yaml, which takes precedence
  settings,   ///< a person, with `PATCH /settings`
  automatic,  ///< the first usable one
};
std::span<const EnumName> names(Tag<SettingSource>);

/// `GET /settings`.
struct GatewaySettings {
  std::string default_model;  ///< the model of chats and agents that specify none
  SettingSource source = SettingSource::automatic;
};
const Description& describe(Tag<GatewaySettings>);

/// The body of `PATCH /settings`.
struct SettingsChange {
  Change<std::string> default_model;  ///< null: the first usable one
};
const Description& describe(Tag<SettingsChange>);

/// The rows of share/model-services.jsonc, in its order. Read on the first call.
const std::vector<ModelServicePreset>& model_service_presets();

/// Returns the definition that connects the preset without changes, without a key.
json::object definition_of(const ModelServicePreset& preset);

}  // namespace agw
