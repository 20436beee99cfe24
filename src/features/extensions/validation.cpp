#include "features/extensions/validation.hpp"

#include <algorithm>
#include <filesystem>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/extensions/schemas.hpp"
#include "features/extensions/triggers.hpp"
#include "io/proxy/declared_secrets.hpp"
#include "models/catalog.hpp"
#include "models/service_definition.hpp"

namespace agw {

namespace {

constexpr std::size_t max_name_length = 64;

void require_member(const json::object& body, std::string_view member) {
  if (!has_value(body, member)) throw BadRequest(std::string(member) + " is required");
}

void check_name(const json::object& body) {
  const auto name = string_member(body, "name");
  if (!name || !is_extension_name(*name)) throw BadRequest("name must be kebab-case (a-z, 0-9, hyphens)");
}

/// Whether it would hide the gateway's own model.
bool is_offline_service(ExtensionType type, std::string_view name, const json::object& definition) {
  return name == offline_provider && type == ExtensionType::integration && is_model_service(definition);
}

Problem offline_is_reserved() { return {"name", "offline is the gateway's own model: choose another name"}; }

/// Validates the members that should be objects, if they are; wrong types are reported elsewhere.
void validate_objects(const json::object& body, std::optional<ExtensionType> type, const std::string& trigger_member,
                      RequiredMembers required, Problems& problems) {
  if (const auto* definition = object_member(body, "definition"); definition && type) {
    append(problems, validate_definition(*type, *definition, required));
  }
  if (const auto* trigger = object_member(body, trigger_member))
    append(problems, validate_trigger(*trigger, trigger_member));
}

/// The errors in `secrets`, which the programs of apps, `shell` actions and `mcp-stdio` integrations use.
Problems validate_secrets(ExtensionType type, const json::object& definition) {
  const auto* secrets = definition.if_contains("secrets");
  const auto kind = string_member(definition, "kind");
  const auto is_for = [&](ExtensionType needed, std::string_view needed_kind) {
    return type == needed && secrets && !secrets->is_null() && kind != needed_kind;
  };
  auto problems = declared_secret_problems(definition);
  if (is_for(ExtensionType::action, "shell"))
    problems.push_back({"definition.secrets", "definition.secrets is only for actions of the kind shell"});
  if (is_for(ExtensionType::integration, "mcp-stdio"))
    problems.push_back({"definition.secrets", "definition.secrets is only for integrations of the kind mcp-stdio"});
  return problems;
}

/// Throws a separate error for a path that leads out of the job's directory, to which it is relative.
void check_prompt_file(ExtensionType type, const json::object& definition) {
  const auto file = string_member(definition, "prompt_file");
  if (type != ExtensionType::job || !file) return;
  const auto path = std::filesystem::path(*file).lexically_normal();
  const bool leaves = path.is_absolute() || (!path.empty() && *path.begin() == "..") || file->find('\0') != file->npos;
  if (leaves) throw path_traversal();
}

/// Text that is not a timestamp has its own error; other types are reported with the other problems.
void check_version(const json::object& body) {
  const auto version = string_member(body, "if_updated_at");
  if (version && !parse_iso8601(*version)) throw BadRequest("if_updated_at must be an ISO 8601 timestamp");
}

/// Removes from the schema the members that only integrations of other kinds have: they are unknown in this kind, so
/// their values are not validated.
void remove_other_kinds(json::object& schema, std::string_view kind) {
  static constexpr std::array<std::string_view, 6> of_models{"api",           "base_url",        "api_key",
                                                             "default_model", "fallback_models", "models"};
  static constexpr std::array<std::string_view, 14> of_channels{"service", "token",       "address",  "smtp",  "user",
                                                                "from",    "authserv_id", "agent_id", "allow", "rooms",
                                                                "pairing", "threads",     "stream",   "notify"};
  auto& members = schema.at("properties").as_object();
  const auto remove = [&](std::string_view owner, const auto& names) {
    if (kind != owner) {
      for (const auto name : names) members.erase(name);
    }
  };
  remove("model", of_models);
  remove("channel", of_channels);
  if (kind != "mcp-stdio" && kind != "browser") members.erase("hosts");
}

}  // namespace

void fail_validation(const Problems& problems) {
  json::array details;
  for (const auto& problem : problems) details.push_back({{"path", problem.path}, {"message", problem.message}});
  throw BadRequest("validation failed", {{"details", std::move(details)}});
}

bool is_extension_name(std::string_view name) {
  const auto allowed = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  const bool hyphens_between =
      !name.starts_with('-') && !name.ends_with('-') && name.find("--") == std::string_view::npos;
  return !name.empty() && name.size() <= max_name_length && std::all_of(name.begin(), name.end(), allowed) &&
         hyphens_between && !is_uuid(name);
}

Problems validate_definition(ExtensionType type, const json::object& definition, RequiredMembers required) {
  Problems problems;
  auto schema = definition_schema(type);
  if (required == RequiredMembers::may_be_missing) {
    for (const auto* word : {"required", "anyOf"}) schema.erase(word);
  }
  if (type == ExtensionType::integration) remove_other_kinds(schema, string_member(definition, "kind").value_or(""));
  validate_by_schema(schema, definition, "definition", problems);
  if (type == ExtensionType::integration && is_model_service(definition)) {
    append(problems, validate_model_service(definition));
  }
  if (type == ExtensionType::action || type == ExtensionType::app || type == ExtensionType::integration)
    append(problems, validate_secrets(type, definition));
  if (type == ExtensionType::integration && is_channel(definition)) append(problems, validate_channel(definition));
  return problems;
}

Problems validate_trigger(const json::object& trigger, const std::string& member) {
  Problems problems;
  read_trigger(trigger, member, problems);
  return problems;
}

NewExtension read_new_extension(json::object body) {
  require_member(body, "name");
  check_name(body);
  for (const auto* member : {"type", "description", "definition"}) require_member(body, member);
  const auto source = string_member(body, "source");
  if (source != "agent") body.erase("owner_agent_id");

  NewExtension wanted;
  Problems problems;
  read_described(body, describe(Tag<NewExtension>{}), &wanted, "", problems);
  if (source == "built-in") {
    problems.push_back({"source", "source must be one of user, agent, community, not built-in"});
  }
  validate_objects(body, from_text<ExtensionType>(string_member(body, "type").value_or("")), "trigger_def",
                   RequiredMembers::checked, problems);
  if (is_offline_service(wanted.type, wanted.name, wanted.definition.members()))
    problems.push_back(offline_is_reserved());
  if (!problems.empty()) fail_validation(problems);
  check_prompt_file(wanted.type, wanted.definition);
  return wanted;
}

ExtensionChange read_extension_change(const json::object& body, ExtensionType type, RequiredMembers required) {
  if (has_value(body, "name")) check_name(body);
  check_version(body);

  ExtensionChange change;
  Problems problems;
  read_described(body, describe(Tag<ExtensionChange>{}), &change, "", problems);
  validate_objects(body, type, "trigger", required, problems);
  if (!problems.empty()) fail_validation(problems);
  if (change.definition) check_prompt_file(type, *change.definition);
  return change;
}

void check_service_name(const Extension& current, const ExtensionChange& change) {
  const auto& definition = (change.definition ? *change.definition : current.definition).members();
  // A record of an earlier version can still be edited, and renamed.
  if (is_offline_service(current.type, change.name.value_or(current.name), definition) &&
      !is_offline_service(current.type, current.name, current.definition.members()))
    fail_validation({offline_is_reserved()});
}

}  // namespace agw
