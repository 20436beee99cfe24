#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/terminal.hpp"

namespace agw::cli {

namespace {

struct ChangesOptions {
  std::string run;
  std::optional<std::string> path;
  bool force = false;
  ListOptions list;
};

constexpr auto run_about = "The id of the run, as `agw logs` shows it after `run=`";

std::string change_line(const json::object& change) {
  auto line = fmt::format("{} {}", string_or_empty(change, "kind"), one_line(string_or_empty(change, "path")));
  const auto* const undone = change.if_contains("undone");
  if (undone && undone->is_bool() && undone->get_bool()) line += " (undone)";
  return line;
}

void print_reasons(std::string_view heading, const json::array& paths) {
  for (const auto& each : paths) {
    const auto& entry = each.as_object();
    std::cerr << fmt::format("{}: {}: {}\n", heading, one_line(string_or_empty(entry, "path")),
                             one_line(string_or_empty(entry, "reason")));
  }
}

void print_hosts(const json::array& hosts) {
  for (const auto& each : hosts) {
    const auto& host = each.as_object();
    const bool allowed = host.at("allowed").as_bool();
    std::cerr << fmt::format("host: {}:{}: {}\n", one_line(string_or_empty(host, "host")),
                             host.at("port").to_number<std::int64_t>(),
                             allowed ? "reached" : one_line(string_or_empty(host, "reason")));
  }
}

Task<int> show_changes(const FoundGateway& gateway, const ChangesOptions& options) {
  const auto shown = co_await Client(gateway).get(path({"runs", options.run, "changes"}));
  if (options.list.json) {
    print_json(shown);
    co_return 0;
  }
  for (const auto& each : shown.at("changes").as_array()) {
    const auto& change = each.as_object();
    std::cout << change_line(change) << '\n' << diff_text(string_or_empty(change, "diff"), terminal_at(STDOUT_FILENO));
  }
  if (shown.at("changes").as_array().empty()) std::cerr << "The run changed no files.\n";
  print_reasons("not covered", shown.at("not_covered").as_array());
  print_hosts(shown.at("hosts").as_array());
  co_return 0;
}

Task<int> undo_changes(const FoundGateway& gateway, const ChangesOptions& options) {
  json::object body{{"force", options.force}};
  if (options.path) body["paths"] = json::array{*options.path};
  const auto undone = co_await Client(gateway).post(path({"runs", options.run, "undo"}), std::move(body));
  const auto& kept = undone.at("kept").as_array();
  if (options.list.json) {
    print_json(undone);
    co_return kept.empty() ? 0 : 1;
  }
  for (const auto& each : undone.at("restored").as_array()) {
    std::cout << "restored " << one_line(std::string(each.as_string())) << '\n';
  }
  print_reasons("kept", kept);
  co_return kept.empty() ? 0 : 1;
}

}  // namespace

Action changes_command(Arguments& arguments) {
  auto options = std::make_shared<ChangesOptions>();
  arguments.word("run", options->run, run_about);
  declare(arguments, options->list);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, show_changes(gateway, *options));
  };
}

Action undo_command(Arguments& arguments) {
  auto options = std::make_shared<ChangesOptions>();
  arguments.word("run", options->run, run_about);
  arguments.word("path", options->path, "Only this file; without it, all that the run changed");
  arguments.flag("--force", options->force, "Also files that were changed since; their content is kept first");
  declare(arguments, options->list);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, undo_changes(gateway, *options));
  };
}

}  // namespace agw::cli
