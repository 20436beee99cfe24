#include "features/configuration/types.hpp"

#include "base/json/describe.hpp"
#include "config/origins.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(ValueForm, number, whole_number, choice, text, texts, names)
std::span<const EnumName> names(Tag<ValueForm>) { return enum_names<ValueForm>(); }

BOOST_DESCRIBE_ENUM(ValueSource, flag, variable, file, built_in)
std::span<const EnumName> names(Tag<ValueSource>) { return enum_names<ValueSource>(); }

BOOST_DESCRIBE_STRUCT(Setting, (),
                      (key, about, form, must_be, choices, min, max, default_value, value, secret, given, source, name,
                       line, editable, at_once, waits_for_restart, next_value))
constexpr auto rules(Tag<Setting>) {
  return std::tuple{
      RuleFor<&Setting::choices>{{.omit_empty = true}},
      RuleFor<&Setting::min>{{.omit_null = true}},
      RuleFor<&Setting::max>{{.omit_null = true}},
      RuleFor<&Setting::value>{{.about = "in effect; null if there is none, or it is secret"}},
      RuleFor<&Setting::secret>{{.about = "may contain a password; values are not sent", .omit_empty = true}},
      RuleFor<&Setting::given>{{.about = "whether it has a value other than the default", .omit_empty = true}},
      RuleFor<&Setting::source>{{.about = "what determines the value"}},
      RuleFor<&Setting::name>{{.about = "of the flag or variable", .omit_null = true}},
      RuleFor<&Setting::line>{{.about = "of its entry in the file", .omit_null = true}},
      RuleFor<&Setting::editable>{{.about = "whether PATCH /configuration can change it"}},
      RuleFor<&Setting::at_once>{{.about = "whether a change takes effect at once", .omit_empty = true}},
      RuleFor<&Setting::waits_for_restart>{{.about = "the next start sets next_value", .omit_empty = true}},
      RuleFor<&Setting::next_value>{{.omit_null = true}}};
}
const Description& describe(Tag<Setting>) { return description_of<Setting>("Setting"); }

BOOST_DESCRIBE_STRUCT(ConfigurationReport, (), (file, problem, settings))
constexpr auto rules(Tag<ConfigurationReport>) {
  return std::tuple{RuleFor<&ConfigurationReport::file>{{.about = "the path of config.yaml"}},
                    RuleFor<&ConfigurationReport::problem>{
                        {.about = "why the gateway could not start with the file as it is now", .omit_null = true}}};
}
const Description& describe(Tag<ConfigurationReport>) {
  return description_of<ConfigurationReport>("ConfigurationReport");
}

}  // namespace agw
