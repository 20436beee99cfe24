#include "features/extensions/types.hpp"

#include <algorithm>

#include "base/describe.hpp"

namespace agw {

template <>
struct OperationsOf<Definition> {
  static constexpr Operations operations{
      "object",
      false,
      false,
      [](std::string& out, const void* value) { out += static_cast<const Definition*>(value)->text(); },
      [](const json::value& in, void* value, const Field& field, const std::string& path, Problems& problems) {
        if (in.is_object())
          *static_cast<Definition*>(value) = in.get_object();
        else
          report_wrong_type(field, "object", path, problems);
      },
      nullptr,
      [](Direction) { return json::object{{"type", "object"}}; }};
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
      On<&Extension::name>{{.about = "kebab-case, at most 64 characters, unique over all types"}},
      On<&Extension::definition>{{.about = "what the type needs: GET /schemas/:type"}},
      On<&Extension::trigger_def>{{.about = "what starts it by itself: cron, event or webhook"}},
      On<&Extension::owner_agent_id>{{.about = "the agent that made it"}},
      On<&Extension::essential>{{.about = "can be neither disabled nor deleted"}},
  };
}
const Description& describe(Tag<Extension>) { return description_of<Extension>("Extension"); }

Timestamp version_after(Timestamp before, Timestamp now) {
  return std::max(now, before + std::chrono::milliseconds{1});
}

BOOST_DESCRIBE_STRUCT(ExtensionFilter, (), (type, enabled, source, owner_agent_id))
constexpr auto rules(Tag<ExtensionFilter>) {
  return std::tuple{On<&ExtensionFilter::owner_agent_id>{{.about = "an agent's id or name"}}};
}
const Description& describe(Tag<ExtensionFilter>) { return description_of<ExtensionFilter>("ExtensionFilter"); }

BOOST_DESCRIBE_STRUCT(NewExtension, (),
                      (type, name, description, definition, trigger_def, source, enabled, owner_agent_id))
constexpr auto rules(Tag<NewExtension>) {
  return std::tuple{
      On<&NewExtension::type>{{.invalid = "type must be one of command, agent, job, app, theme, renderer, integration, "
                                          "action, widget, artifact, capability, control, not "}},
      On<&NewExtension::name>{{.about = "kebab-case, at most 64 characters, not in the form of a UUID"}},
      On<&NewExtension::definition>{{.about = "what the type needs: GET /schemas/:type"}},
      On<&NewExtension::trigger_def>{{.about = "what starts it by itself: cron, event or webhook"}},
      On<&NewExtension::source>{{.invalid = "source must be one of user, agent, community, not ", .keep = true}},
      On<&NewExtension::enabled>{{.keep = true}},
      On<&NewExtension::owner_agent_id>{{.about = "an agent's id or name; counts with source agent only"}},
  };
}
const Description& describe(Tag<NewExtension>) {
  // What is built in is shipped, never sent.
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

BOOST_DESCRIBE_STRUCT(ExtensionChange, (), (name, description, definition, trigger, enabled, if_updated_at))
constexpr auto rules(Tag<ExtensionChange>) {
  return std::tuple{
      On<&ExtensionChange::definition>{{.about = "replaces the whole definition"}},
      On<&ExtensionChange::trigger>{{.about = "replaces trigger_def, null removes it"}},
      On<&ExtensionChange::if_updated_at>{{.about = "fails with 409 where the record has changed since"}},
  };
}
const Description& describe(Tag<ExtensionChange>) { return description_of<ExtensionChange>("ExtensionChange"); }

}  // namespace agw
