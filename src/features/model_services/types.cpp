#include "features/model_services/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ModelServicePreset, (),
                      (name, label, api, base_url, key_url, needs_key, key_header, default_model, local, note))
constexpr auto rules(Tag<ModelServicePreset>) {
  return std::tuple{
      RuleFor<&ModelServicePreset::api>{{.about = "as in the definition of an integration of kind model"}},
      RuleFor<&ModelServicePreset::base_url>{{.about = "a part in <> is for a person to fill in"}},
      RuleFor<&ModelServicePreset::key_url>{{.about = "the page where a person gets a key"}},
      RuleFor<&ModelServicePreset::key_header>{{.about = "the header that takes the key, in place of api_key"}},
      RuleFor<&ModelServicePreset::local>{{.about = "runs on this machine"}},
      RuleFor<&ModelServicePreset::note>{{.about = "what a person has to know or fill in"}}};
}
const Description& describe(Tag<ModelServicePreset>) {
  return description_of<ModelServicePreset>("ModelServicePreset");
}

BOOST_DESCRIBE_STRUCT(ModelsQuery, (), (refresh))
constexpr auto rules(Tag<ModelsQuery>) {
  return std::tuple{
      RuleFor<&ModelsQuery::refresh>{{.about = "true: ask all services for their models first", .has_default = true}}};
}
const Description& describe(Tag<ModelsQuery>) { return description_of<ModelsQuery>("ModelsQuery"); }

BOOST_DESCRIBE_STRUCT(ServiceCheck, (), (definition, key))
constexpr auto rules(Tag<ServiceCheck>) {
  return std::tuple{
      RuleFor<&ServiceCheck::definition>{{.about = "as an integration of kind model would have it"}},
      RuleFor<&ServiceCheck::key>{{.about = "in place of every secret that the definition names; is not stored"}}};
}
const Description& describe(Tag<ServiceCheck>) { return description_of<ServiceCheck>("ServiceCheck"); }

BOOST_DESCRIBE_STRUCT(CheckedService, (), (ok, models, error))
constexpr auto rules(Tag<CheckedService>) {
  return std::tuple{RuleFor<&CheckedService::error>{{.about = "what is wrong and what to do"}}};
}
const Description& describe(Tag<CheckedService>) { return description_of<CheckedService>("CheckedService"); }

BOOST_DESCRIBE_STRUCT(DetectedService, (), (name, label, definition, models))
constexpr auto rules(Tag<DetectedService>) {
  return std::tuple{RuleFor<&DetectedService::name>{{.about = "of its preset"}},
                    RuleFor<&DetectedService::definition>{{.about = "to connect it with POST /extensions"}}};
}
const Description& describe(Tag<DetectedService>) { return description_of<DetectedService>("DetectedService"); }

BOOST_DESCRIBE_ENUM(SettingSource, config, settings, automatic)
std::span<const EnumName> names(Tag<SettingSource>) { return enum_names<SettingSource>(); }

BOOST_DESCRIBE_STRUCT(GatewaySettings, (), (default_model, source))
constexpr auto rules(Tag<GatewaySettings>) {
  return std::tuple{RuleFor<&GatewaySettings::default_model>{{.about = "the model of chats and agents that name none"}},
                    RuleFor<&GatewaySettings::source>{{.about = "what chose it; config.yaml goes first"}}};
}
const Description& describe(Tag<GatewaySettings>) { return description_of<GatewaySettings>("GatewaySettings"); }

BOOST_DESCRIBE_STRUCT(SettingsChange, (), (default_model))
constexpr auto rules(Tag<SettingsChange>) {
  return std::tuple{
      RuleFor<&SettingsChange::default_model>{{.about = "an id of GET /models; null: the first that can be used"}}};
}
const Description& describe(Tag<SettingsChange>) { return description_of<SettingsChange>("SettingsChange"); }

}  // namespace agw
