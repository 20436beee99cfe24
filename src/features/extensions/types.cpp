#include "features/extensions/types.hpp"

#include <algorithm>

#include "base/json/describe.hpp"

namespace agw {

template <>
struct OperationsOf<Definition> {
  static constexpr Operations operations{
      .type = "object",
      .write = [](std::string& out, const void* value) { out += static_cast<const Definition*>(value)->text(); },
      .read =
          [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
            if (in.is_object())
              *static_cast<Definition*>(value) = in.get_object();
            else
              report_wrong_type(field, "object", path, problems);
          },
      .schema = [](Direction) { return json::object{{"type", "object"}}; }};
};

BOOST_DESCRIBE_ENUM(ExtensionType, command, agent, job, app, theme, renderer, integration, action, widget, artifact,
                    capability, control)
std::span<const EnumName> names(Tag<ExtensionType>) { return enum_names<ExtensionType>(); }

BOOST_DESCRIBE_ENUM(Source, built_in, user, agent, community)
std::span<const EnumName> names(Tag<Source>) { return enum_names<Source>(); }

BOOST_DESCRIBE_ENUM(ExtensionAction, created, updated, deleted)
std::span<const EnumName> names(Tag<ExtensionAction>) { return enum_names<ExtensionAction>(); }

BOOST_DESCRIBE_STRUCT(Extension, (),
                      (id, type, name, description, definition, trigger_def, source, enabled, owner_agent_id, essential,
                       created_at, updated_at))
constexpr auto rules(Tag<Extension>) {
  return std::tuple{
      RuleFor<&Extension::name>{{.about = "kebab-case, at most 64 characters, unique over all types"}},
      RuleFor<&Extension::definition>{{.about = "what the type needs: GET /schemas/:type"}},
      RuleFor<&Extension::trigger_def>{{.about = "what starts it by itself: cron, event or webhook"}},
      RuleFor<&Extension::owner_agent_id>{{.about = "the agent that made it"}},
      RuleFor<&Extension::essential>{{.about = "can be neither disabled nor deleted"}},
  };
}
const Description& describe(Tag<Extension>) { return description_of<Extension>("Extension"); }

BOOST_DESCRIBE_STRUCT(ExtensionWarning, (), (path, message))
const Description& describe(Tag<ExtensionWarning>) { return description_of<ExtensionWarning>("ExtensionWarning"); }

BOOST_DESCRIBE_STRUCT(SavedExtension, (Extension), (warnings))
constexpr auto rules(Tag<SavedExtension>) {
  return std::tuple_cat(
      rules(Tag<Extension>{}),
      std::tuple{RuleFor<&SavedExtension::warnings>{
          {.about = "names in the definition that nothing has; left out where there are none", .omit_empty = true}}});
}
const Description& describe(Tag<SavedExtension>) { return description_of<SavedExtension>("SavedExtension"); }

Timestamp version_after(Timestamp before, Timestamp now) {
  return std::max(now, before + std::chrono::milliseconds{1});
}

BOOST_DESCRIBE_STRUCT(ExtensionFilter, (), (type, enabled, source, owner_agent_id))
constexpr auto rules(Tag<ExtensionFilter>) {
  return std::tuple{RuleFor<&ExtensionFilter::owner_agent_id>{{.about = "an agent's id or name"}}};
}
const Description& describe(Tag<ExtensionFilter>) { return description_of<ExtensionFilter>("ExtensionFilter"); }

BOOST_DESCRIBE_STRUCT(NewExtension, (),
                      (type, name, description, definition, trigger_def, source, enabled, owner_agent_id))
constexpr auto rules(Tag<NewExtension>) {
  return std::tuple{
      RuleFor<&NewExtension::type>{{.invalid =
                                        "type must be one of command, agent, job, app, theme, renderer, integration, "
                                        "action, widget, artifact, capability, control, not "}},
      RuleFor<&NewExtension::name>{{.about = "kebab-case, at most 64 characters, not in the form of a UUID"}},
      RuleFor<&NewExtension::definition>{{.about = "what the type needs: GET /schemas/:type"}},
      RuleFor<&NewExtension::trigger_def>{{.about = "what starts it by itself: cron, event or webhook"}},
      RuleFor<&NewExtension::source>{
          {.invalid = "source must be one of user, agent, community, not ", .has_default = true}},
      RuleFor<&NewExtension::enabled>{{.has_default = true}},
      RuleFor<&NewExtension::owner_agent_id>{{.about = "an agent's id or name; counts with source agent only"}},
  };
}
const Description& describe(Tag<NewExtension>) {
  // Clients can never create built-ins.
  static const auto source = [] {
    auto operations = operations_of<Source>();
    operations.schema = [](Direction) {
      return json::object{{"type", "string"}, {"enum", json::array{"user", "agent", "community"}}, {"default", "user"}};
    };
    return operations;
  }();
  static const auto description = [] {
    auto made = description_of<NewExtension>("NewExtension");
    std::ranges::find(made.fields, "source", &Field::name)->operations = &source;
    return made;
  }();
  return description;
}

BOOST_DESCRIBE_STRUCT(RemovalQuery, (), (force))
constexpr auto rules(Tag<RemovalQuery>) {
  return std::tuple{
      RuleFor<&RemovalQuery::force>{{.about = "false: keep a model service that agents name", .has_default = true}}};
}
const Description& describe(Tag<RemovalQuery>) { return description_of<RemovalQuery>("RemovalQuery"); }

BOOST_DESCRIBE_STRUCT(ExtensionChange, (), (name, description, definition, trigger, enabled, if_updated_at))
constexpr auto rules(Tag<ExtensionChange>) {
  return std::tuple{
      RuleFor<&ExtensionChange::definition>{{.about = "replaces the whole definition"}},
      RuleFor<&ExtensionChange::trigger>{{.about = "replaces trigger_def, null removes it"}},
      RuleFor<&ExtensionChange::if_updated_at>{{.about = "fails with 409 where the record has changed since"}},
  };
}
const Description& describe(Tag<ExtensionChange>) { return description_of<ExtensionChange>("ExtensionChange"); }

}  // namespace agw
