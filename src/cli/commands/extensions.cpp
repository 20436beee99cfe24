#include <iostream>
#include <memory>

#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/transfer/extension_package.hpp"
#include "features/extensions/types.hpp"

namespace agw::cli {

namespace {

struct ExtensionListOptions {
  std::optional<std::string> type;
  std::optional<std::string> source;
  std::optional<std::string> owner;
  bool enabled = false;
  bool disabled = false;
  ListOptions list;
};

struct OneExtensionOptions {
  std::string name;
  ListOptions list;
};

std::vector<std::string> type_names() {
  std::vector<std::string> texts;
  for (const auto& type : names(Tag<ExtensionType>{})) texts.emplace_back(type.name);
  return texts;
}

Column state_column() {
  return {"STATE",
          [](const json::object& record) { return std::string(is_true(record, "enabled") ? "enabled" : "disabled"); }};
}

int list(const ExtensionListOptions& options) {
  std::optional<std::string> enabled;
  if (options.enabled != options.disabled) enabled = options.enabled ? "true" : "false";
  return print_list(options.list,
                    path({"extensions"}, {{"type", options.type},
                                          {"enabled", enabled},
                                          {"source", options.source},
                                          {"owner_agent_id", options.owner}}),
                    {text_column("NAME", "name"), text_column("TYPE", "type"), state_column(),
                     text_column("SOURCE", "source"), text_column("DESCRIPTION", "description", 60)},
                    "such extensions");
}

Task<int> print_one(const FoundGateway& gateway, const OneExtensionOptions& options) {
  const auto text = co_await Client(gateway).get_text(path({"extensions", options.name}));
  const auto record = parse_json(text, {.max_depth = max_own_json_depth});
  if (options.list.json || !record || !record->is_object())
    print_json_text(text);
  else
    std::cout << printable(extension_text(record->get_object()));
  co_return 0;
}

Task<int> set_enabled(const FoundGateway& gateway, const OneExtensionOptions& options, bool enabled) {
  const auto record = co_await Client(gateway).patch(path({"extensions", options.name}), {{"enabled", enabled}});
  if (options.list.json)
    print_json(record);
  else
    std::cerr << one_line(options.name) << (enabled ? " is enabled.\n" : " is disabled.\n");
  co_return 0;
}

Task<int> remove(const FoundGateway& gateway, const OneExtensionOptions& options) {
  co_await Client(gateway).remove(path({"extensions", options.name}));
  std::cerr << one_line(options.name) << " is deleted.\n";
  co_return 0;
}

template <class Do>
Action one_extension_command(Arguments& arguments, Do act) {
  auto options = std::make_shared<OneExtensionOptions>();
  arguments.word("name", options->name, "The extension's name or id");
  declare(arguments, options->list);
  return [options, act] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, act(gateway, *options));
  };
}

}  // namespace

Action extension_list_command(Arguments& arguments) {
  auto options = std::make_shared<ExtensionListOptions>();
  arguments.option("--type", options->type, type_names(), "Only extensions of this type");
  arguments.option("--source", options->source, {"built-in", "user", "agent", "community"},
                   "Only extensions from this source");
  arguments.option("--owner", options->owner, "Only extensions made by this agent, by name or id");
  arguments.flag("--enabled", options->enabled, "Only enabled extensions");
  arguments.flag("--disabled", options->disabled, "Only disabled extensions");
  declare(arguments, options->list);
  return [options] { return list(*options); };
}

Action extension_show_command(Arguments& arguments) { return one_extension_command(arguments, print_one); }

Action extension_enable_command(Arguments& arguments) {
  return one_extension_command(
      arguments, [](const auto& gateway, const auto& options) { return set_enabled(gateway, options, true); });
}

Action extension_disable_command(Arguments& arguments) {
  return one_extension_command(
      arguments, [](const auto& gateway, const auto& options) { return set_enabled(gateway, options, false); });
}

Action extension_remove_command(Arguments& arguments) { return one_extension_command(arguments, remove); }

}  // namespace agw::cli
