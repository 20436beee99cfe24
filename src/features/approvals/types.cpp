#include "features/approvals/types.hpp"

#include "base/json/describe.hpp"
#include "features/integrations/types.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(PermissionKind, permission, question)
std::span<const EnumName> names(Tag<PermissionKind>) { return enum_names<PermissionKind>(); }

BOOST_DESCRIBE_ENUM(PermissionDecision, allow, deny, propose, answer)
std::span<const EnumName> names(Tag<PermissionDecision>) { return enum_names<PermissionDecision>(); }

BOOST_DESCRIBE_ENUM(GrantScope, once, thread, agent)
std::span<const EnumName> names(Tag<GrantScope>) { return enum_names<GrantScope>(); }

BOOST_DESCRIBE_ENUM(DecidedBy, person, timeout, stop, restart)
std::span<const EnumName> names(Tag<DecidedBy>) { return enum_names<DecidedBy>(); }

BOOST_DESCRIBE_STRUCT(AskedQuestion, (), (question, options, form))
constexpr auto rules(Tag<AskedQuestion>) {
  return std::tuple{RuleFor<&AskedQuestion::options>{{.about = "proposed answers; may be empty"}},
                    RuleFor<&AskedQuestion::form>{{.about = "the JSON Schema of the answer; null: a text"}}};
}
const Description& describe(Tag<AskedQuestion>) { return description_of<AskedQuestion>("AskedQuestion"); }

BOOST_DESCRIBE_STRUCT(PermissionRequest, (),
                      (id, kind, run_id, thread_id, agent_id, agent, tool, input, target, reason, diff, created_at,
                       expires_at, can_propose, scopes, pattern, question, decision, scope, by, decision_reason, answer,
                       decided_at))
constexpr auto rules(Tag<PermissionRequest>) {
  return std::tuple{
      RuleFor<&PermissionRequest::run_id>{{.about = "the run whose events tell of it"}},
      RuleFor<&PermissionRequest::agent>{{.about = "the agent's name"}},
      RuleFor<&PermissionRequest::target>{{.about = "what it acts on: a path, a command, a host, else the tool"}},
      RuleFor<&PermissionRequest::reason>{{.about = "which rule asks"}},
      RuleFor<&PermissionRequest::diff>{{.about = "unified, of what Write and Edit would change"}},
      RuleFor<&PermissionRequest::can_propose>{{.about = "it can be staged as a proposal instead"}},
      RuleFor<&PermissionRequest::scopes>{{.about = "how far a yes can go"}},
      RuleFor<&PermissionRequest::pattern>{{.about = "what a yes for the thread or the agent remembers"}},
      RuleFor<&PermissionRequest::question>{{.about = "null for a permission"}},
      RuleFor<&PermissionRequest::decision>{{.about = "null while it waits"}}};
}
const Description& describe(Tag<PermissionRequest>) { return description_of<PermissionRequest>("PermissionRequest"); }

BOOST_DESCRIBE_STRUCT(PermissionFilter, (), (thread_id))
const Description& describe(Tag<PermissionFilter>) { return description_of<PermissionFilter>("PermissionFilter"); }

BOOST_DESCRIBE_STRUCT(DecidePermission, (), (decision, scope, reason, answer))
constexpr auto rules(Tag<DecidePermission>) {
  return std::tuple{
      RuleFor<&DecidePermission::decision>{{.about = "for a question only deny; without it, answer is needed"}},
      RuleFor<&DecidePermission::scope>{{.about = "of allow; once when omitted", .has_default = true}},
      RuleFor<&DecidePermission::reason>{{.about = "passed on to the agent"}},
      RuleFor<&DecidePermission::answer>{{.about = "to a question: a text, or an object if it has a form"}}};
}
const Description& describe(Tag<DecidePermission>) { return description_of<DecidePermission>("DecidePermission"); }

BOOST_DESCRIBE_STRUCT(Grant, (), (id, agent_id, thread_id, tool, pattern, scope, created_at))
constexpr auto rules(Tag<Grant>) {
  return std::tuple{RuleFor<&Grant::thread_id>{{.about = "null: it holds in all threads of the agent"}},
                    RuleFor<&Grant::pattern>{{.about = "a command, a directory, a host, else the tool"}}};
}
const Description& describe(Tag<Grant>) { return description_of<Grant>("Grant"); }

bool is_tool_of(const std::string& extension_name, std::string_view tool) {
  return tool == extension_name || can_be_tool_of(extension_name, tool);
}

}  // namespace agw
