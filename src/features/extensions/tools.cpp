#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/cancellation.hpp"
#include "base/json/json_values.hpp"
#include "features/extensions/extension_text.hpp"
#include "features/extensions/service.hpp"
#include "features/extensions/validation.hpp"
#include "features/extensions/writing.hpp"
#include "models/service_definition.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr auto list_schema = R"({
  "type": "object",
  "properties": {
    "type": {"enum": ["command", "agent", "job", "app", "theme", "renderer", "integration", "action", "widget",
                      "artifact", "capability", "control"]},
    "enabled": {"type": "boolean"},
    "source": {"enum": ["built-in", "user", "agent", "community"]},
    "owner_agent_id": {"type": "string", "description": "an agent's id or name"}
  },
  "additionalProperties": false
})";

constexpr auto create_schema = R"({
  "type": "object",
  "properties": {
    "type": {"type": "string"},
    "name": {"type": "string", "description": "kebab-case, unique over all types"},
    "description": {"type": "string"},
    "definition": {"type": "object", "description": "what the type needs: a command has prompt and agent_id"},
    "trigger_def": {"type": "object", "description": "such as {\"type\": \"cron\", \"expression\": \"0 7 * * *\"}"},
    "enabled": {"type": "boolean"},
    "reason": {"type": "string", "description": "for the person who decides, where it is staged"}
  },
  "required": ["type", "name", "description", "definition"]
})";

constexpr auto update_schema = R"({
  "type": "object",
  "properties": {
    "id": {"type": "string", "description": "the extension's id or name"},
    "name": {"type": "string"},
    "description": {"type": "string"},
    "definition": {"type": "object", "description": "replaces the whole definition"},
    "trigger": {"type": ["object", "null"], "description": "replaces the trigger, null removes it"},
    "enabled": {"type": "boolean"},
    "reason": {"type": "string", "description": "for the person who decides, where it is staged"}
  },
  "required": ["id"]
})";

/// An extension as agents see it. Definitions of other owners are omitted, because they may hold confidential text.
json::object listed(const Extension& extension, const std::string& agent_id) {
  json::object shown{{"id", extension.id},           {"type", to_text(extension.type)},
                     {"name", extension.name},       {"description", extension.description},
                     {"enabled", extension.enabled}, {"source", to_text(extension.source)}};
  if (extension.owner_agent_id == agent_id) shown["definition"] = extension.definition.members();
  return shown;
}

Task<ToolOutcome> list(const Extensions& extensions, const ToolCall& call) {
  ExtensionFilter filter;
  if (const auto type = string_member(call.input, "type")) filter.type = from_text<ExtensionType>(*type);
  if (const auto source = string_member(call.input, "source")) filter.source = from_text<Source>(*source);
  if (const auto* enabled = call.input.if_contains("enabled")) filter.enabled = enabled->as_bool();
  if (const auto owner = string_member(call.input, "owner_agent_id")) filter.owner_agent_id = *owner;
  std::string text;
  for (const auto& extension : extensions.list(filter)) {
    text += to_json(listed(*extension, call.run.agent_id));
    text += '\n';
  }
  co_return ToolOutcome{text.empty() ? "There is no such extension." : std::move(text)};
}

/// The target of a proposal to change the extension.
std::string target_of(const Extension& extension) {
  if (is_file_backed(extension.type)) return config_path(directory_of(extension.type, extension.name));
  return fmt::format("extensions/{}.yaml", extension.name);
}

std::string staged_content(const Extension& extension) {
  auto members = flat_members(extension);
  if (is_file_backed(extension.type)) return json_to_yaml(members);
  const auto& definition = extension.definition.members();
  json::object flat{{"type", to_text(extension.type)}};
  // An app's definition has a `type` as well.
  if (definition.contains("type")) {
    for (const auto& member : definition) members.erase(member.key());
    members["definition"] = definition;
    members["description"] = extension.description;
  }
  for (auto& member : members) flat.insert(member);
  return json_to_yaml(flat);
}

Task<ToolOutcome> stage(const ToolCall& call, const Extension& wanted, std::string title) {
  const auto reference = co_await call.stage({.type = "extension",
                                              .title = std::move(title),
                                              .target = target_of(wanted),
                                              .content = staged_content(wanted),
                                              .reason = string_or_empty(call.input, "reason")});
  co_return ToolOutcome{fmt::format("staged as proposal {}", reference)};
}

/// Whether the change takes effect only after a person has approved it, at any stage. A capability may be one that
/// limits the agent itself; a definition that names a secret could send it somewhere; a model service reads whole
/// conversations; a channel lets other people in.
bool needs_a_person(const Extension& wanted, const std::string& agent_id) {
  return wanted.type == ExtensionType::capability || wanted.id == agent_id ||
         is_model_service(wanted.definition.members()) || is_channel(wanted.definition.members()) ||
         wanted.definition.members().contains("secrets") ||
         to_json(wanted.definition.members()).find("${secret:") != std::string::npos;
}

/// Requests no approval for a change that will become a proposal in any case.
Task<Permission> permit(const ToolCall& call, ToolTarget target, const Extension& wanted) {
  auto permission = call.authorize(target);
  if (permission.verdict != Permission::Verdict::ask) co_return permission;
  if (!needs_a_person(wanted, call.run.agent_id)) co_return co_await call.permit(std::move(target));
  permission.verdict = permission.otherwise;
  co_return permission;
}

std::string change_report(std::string_view what, const Extension& extension) {
  return fmt::format("{} the {} {} (id {}); it is {}", what, to_text(extension.type), extension.name, extension.id,
                     extension.enabled ? "enabled" : "disabled, and a person can enable it");
}

Task<ToolOutcome> create(Extensions& extensions, const ToolCall& call) {
  auto body = call.input;
  body.erase("reason");
  body["source"] = to_text(Source::agent);
  body["owner_agent_id"] = call.run.agent_id;
  const auto wanted = read_new_extension(body);
  if (extensions.find_by_id_or_name(wanted.name)) throw extension_name_taken(wanted.name);
  Extension made{.type = wanted.type,
                 .name = wanted.name,
                 .description = wanted.description,
                 .definition = wanted.definition,
                 .trigger_def = wanted.trigger_def,
                 .enabled = wanted.enabled};
  const auto permission = co_await permit(call, {}, made);
  if (permission.verdict == Permission::Verdict::denied) co_return ToolOutcome{permission.reason, true};
  if (permission.verdict == Permission::Verdict::staged || needs_a_person(made, call.run.agent_id)) {
    co_return co_await stage(call, made, fmt::format("New {}: {}", to_text(made.type), made.name));
  }
  if (permission.disables_record) body["enabled"] = false;
  // The registry must learn of what is stored.
  co_await ignore_cancellation();
  co_return ToolOutcome{change_report("created", *co_await extensions.create(std::move(body), {}, call.run.run_id))};
}

bool changes_at_most_enabled(const Extension& record, Extension wanted) {
  wanted.enabled = record.enabled;
  return flat_members(wanted) == flat_members(record) && wanted.definition.members() == record.definition.members();
}

Task<ToolOutcome> update(Extensions& extensions, const ToolCall& call) {
  const auto record = extensions.require(string_or_empty(call.input, "id"));
  auto body = call.input;
  body.erase("id");
  body.erase("reason");
  const auto change = read_extension_change(body, record->type);
  require_version(*record, change);
  const auto wanted = changed(*record, change);
  const auto permission = co_await permit(call, {.record_is_own = record->owner_agent_id == call.run.agent_id}, wanted);
  if (permission.verdict == Permission::Verdict::denied) co_return ToolOutcome{permission.reason, true};
  if (permission.verdict == Permission::Verdict::staged || needs_a_person(wanted, call.run.agent_id)) {
    if (record->source == Source::built_in && !changes_at_most_enabled(*record, wanted)) {
      throw Forbidden("built-in extensions are not editable; make one of your own with CreateExtension");
    }
    // Nobody could apply the proposal.
    if (record->essential && !wanted.enabled) throw Forbidden("cannot disable essential extensions");
    if (wanted.name != record->name) throw BadRequest("a person renames what is not your own");
    co_return co_await stage(call, wanted, fmt::format("Change of the {}: {}", to_text(record->type), record->name));
  }
  if (wanted.enabled == record->enabled && changes_at_most_enabled(*record, wanted)) {
    co_return ToolOutcome{fmt::format("nothing changed: the {} {} is so already", to_text(record->type), record->name)};
  }
  if (permission.disables_record) body["enabled"] = false;
  co_await ignore_cancellation();  // as in `create`
  co_return ToolOutcome{
      change_report("changed", *co_await extensions.change(record->id, std::move(body), call.run.run_id))};
}

}  // namespace

std::vector<Tool> extension_tools(Extensions& extensions) {
  std::vector<Tool> tools;
  tools.push_back({.description = {"ListExtensions",
                                   "Lists what is installed: agents, jobs, commands, actions, integrations and so on, "
                                   "a line each.",
                                   parse_json(list_schema).value()},
                   .call = [&extensions](const ToolCall& call) { return list(extensions, call); }});
  tools.push_back({.description = {"CreateExtension",
                                   "Makes an agent, job, command, action or another extension of your own. Where you "
                                   "may not, it becomes a proposal that the person decides on.",
                                   parse_json(create_schema).value()},
                   .effect = ToolEffect::writes,
                   .authorizes_itself = true,
                   .call = [&extensions](const ToolCall& call) { return create(extensions, call); }});
  tools.push_back({.description = {"UpdateExtension",
                                   "Changes an extension. Only your own ones change at once; of others it becomes a "
                                   "proposal that the person decides on.",
                                   parse_json(update_schema).value()},
                   .effect = ToolEffect::writes,
                   .authorizes_itself = true,
                   .call = [&extensions](const ToolCall& call) { return update(extensions, call); }});
  return tools;
}

}  // namespace agw
