#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"
#include "models/model_entry.hpp"

namespace agw {

/// A model service that the gateway knows how to connect (share/model-services.yaml).
struct ModelServicePreset {
  std::string name;   ///< what its extension may be called
  std::string label;  ///< for people
  std::string api;    ///< as in a definition
  std::string base_url;
  std::optional<std::string> key_url;  ///< the page where a person gets a key
  bool needs_key = false;
  std::optional<std::string> key_header;  ///< the header that takes the key, where that is not the API's own
  std::optional<std::string> default_model;
  bool local = false;               ///< runs on this machine, and is looked for by `detect`
  std::optional<std::string> note;  ///< what a person has to know or fill in
};
const Description& describe(Tag<ModelServicePreset>);

/// The query of `GET /models`.
struct ModelsQuery {
  bool refresh = false;  ///< asks all services for their models first
};
const Description& describe(Tag<ModelsQuery>);

/// The body of `POST /model-services/check`.
struct ServiceCheck {
  json::object definition;         ///< as an integration of kind `model` would have it
  std::optional<std::string> key;  ///< in place of every secret that the definition names; is not stored
};
const Description& describe(Tag<ServiceCheck>);

/// The answer to it.
struct CheckedService {
  bool ok = false;
  std::vector<ModelEntry> models;
  std::optional<std::string> error;  ///< what is wrong and what to do
};
const Description& describe(Tag<CheckedService>);

/// A service that runs on this machine.
struct DetectedService {
  std::string name;   ///< of its preset
  std::string label;  ///< for people
  json::object definition;
  std::vector<ModelEntry> models;
};
const Description& describe(Tag<DetectedService>);

/// What chose a setting.
enum class SettingSource {
  config,     ///< config.yaml, which goes first
  settings,   ///< a person, with `PATCH /settings`
  automatic,  ///< nobody: the first that can be used
};
std::span<const EnumName> names(Tag<SettingSource>);

/// `GET /settings`.
struct GatewaySettings {
  std::string default_model;  ///< the model of chats and agents that name none
  SettingSource source = SettingSource::automatic;
};
const Description& describe(Tag<GatewaySettings>);

/// The body of `PATCH /settings`.
struct SettingsChange {
  Change<std::string> default_model;  ///< null: the first that can be used
};
const Description& describe(Tag<SettingsChange>);

/// The rows of share/model-services.yaml, in its order. Read on the first call.
const std::vector<ModelServicePreset>& model_service_presets();

/// The definition that connects the preset as it stands, without a key.
json::object definition_of(const ModelServicePreset& preset);

}  // namespace agw
