#include "cli/acp/session_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

json::object choice(const std::string& value, const std::string& name, const std::string& about = {}) {
  json::object entry{{"value", value}, {"name", name}};
  if (!about.empty()) entry["description"] = about;
  return entry;
}

json::object selection(std::string_view id, std::string_view name, std::string_view current, json::array options) {
  return {{"id", id}, {"name", name}, {"type", "select"}, {"currentValue", current}, {"options", std::move(options)}};
}

json::array mode_options(const SessionLists& lists) {
  json::array options;
  for (const auto& entry : lists.modes) {
    const auto& mode = entry.as_object();
    options.push_back(
        choice(string_or_empty(mode, "name"), string_or_empty(mode, "label"), string_or_empty(mode, "description")));
  }
  return options;
}

json::array model_options(const SessionLists& lists, const std::string& current) {
  json::array options{choice(
      own_model, "Default",
      fmt::format("The agent's own model, else {}", lists.default_model.empty() ? "none" : lists.default_model))};
  for (const auto& model : lists.models) options.push_back(choice(model.id, model.id));
  if (!current.empty() && !find_model(lists.models, current)) options.push_back(choice(current, current));
  return options;
}

bool is_enabled(const json::value& record) { return is_true(record.as_object(), "enabled"); }

json::array agent_options(const SessionLists& lists, const std::string& current) {
  json::array options;
  bool is_listed = false;
  for (const auto& entry : lists.agents) {
    if (!is_enabled(entry)) continue;
    const auto& agent = entry.as_object();
    const auto id = string_or_empty(agent, "id");
    is_listed = is_listed || id == current;
    options.push_back(choice(id, string_or_empty(agent, "name"), string_or_empty(agent, "description")));
  }
  if (!is_listed) options.push_back(choice(current, current, "It is disabled or was deleted"));
  return options;
}

}  // namespace

json::object modes_of(const SessionLists& lists, const SessionChoices& choices) {
  json::array modes;
  for (const auto& entry : lists.modes) {
    const auto& mode = entry.as_object();
    modes.push_back(json::object{{"id", string_or_empty(mode, "name")},
                                 {"name", string_or_empty(mode, "label")},
                                 {"description", string_or_empty(mode, "description")}});
  }
  return {{"currentModeId", choices.mode}, {"availableModes", std::move(modes)}};
}

json::array config_options(const SessionLists& lists, const SessionChoices& choices) {
  auto mode = selection("mode", "Mode", choices.mode, mode_options(lists));
  mode["category"] = "mode";
  auto model = selection("model", "Model", choices.model.empty() ? own_model : choices.model,
                         model_options(lists, choices.model));
  model["category"] = "model";
  json::array options{std::move(mode), std::move(model),
                      selection("agent", "Agent", choices.agent, agent_options(lists, choices.agent))};
  if (choices.may_lend_terminal) {
    options.push_back(selection("terminal", "Commands", choices.lends_terminal ? editor_terminal : gateway_terminal,
                                {choice(gateway_terminal, "In the sandbox", "Commands run in the gateway's sandbox"),
                                 choice(editor_terminal, "In the editor",
                                        "Commands run in its terminals, with your rights, once you allow them")}));
  }
  return options;
}

json::array available_commands(const SessionLists& lists) {
  json::array commands;
  for (const auto& entry : lists.commands) {
    if (!is_enabled(entry)) continue;
    const auto& record = entry.as_object();
    json::object command{{"name", string_or_empty(record, "name")},
                         {"description", string_or_empty(record, "description")}};
    const auto prompt = string_or_empty(object_or_empty(record, "definition"), "prompt");
    if (prompt.find("$ARGUMENTS") != prompt.npos || prompt.find("$1") != prompt.npos)
      command["input"] = json::object{{"hint", "arguments"}};
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string agent_id(const json::array& agents, const std::string& name) {
  const auto found = std::ranges::find_if(agents, [&](const json::value& entry) {
    const auto& agent = entry.as_object();
    return is_enabled(entry) && (string_member(agent, "id") == name || string_member(agent, "name") == name);
  });
  return found == agents.end() ? std::string() : string_or_empty(found->as_object(), "id");
}

std::vector<ListedModel> listed_models(const json::array& models) {
  std::vector<ListedModel> listed;
  listed.reserve(models.size());
  for (const auto& entry : models) {
    const auto& model = entry.as_object();
    const auto* window = model.if_contains("context_window");
    listed.push_back({string_or_empty(model, "id"), window && window->is_int64() ? window->get_int64() : 0});
  }
  return listed;
}

const ListedModel* find_model(const std::vector<ListedModel>& models, std::string_view id) {
  const auto found = std::ranges::find(models, id, &ListedModel::id);
  return found == models.end() ? nullptr : &*found;
}

bool has_record(const json::array& list, std::string_view member, const std::string& value) {
  return std::ranges::any_of(
      list, [&](const json::value& entry) { return string_member(entry.as_object(), member) == value; });
}

}  // namespace agw::cli
