#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/secrets/service.hpp"
#include "storage/postgres/nodes.hpp"

namespace agw::cli {

namespace {

json::value text_or_null(const std::optional<std::string>& text) { return text ? json::value(*text) : json::value(); }

json::array names_at(const std::string& node, const std::vector<postgres::PlacedProgram>& programs) {
  json::array names;
  for (const auto& program : programs) {
    if (program.node == node) names.emplace_back(program.name);
  }
  return names;
}

json::array nodes_of(const DataDirectory& directory) {
  const auto settings = load_settings({.file = directory.path / data_files::configuration});
  if (settings.cluster.database.empty() || settings.cluster.node.empty()) {
    throw StartError(ExitStatus::failure,
                     fmt::format("the gateway of {} is no node of a cluster: cluster.database and cluster.node are not "
                                 "both set in its config.yaml",
                                 directory.path.string()));
  }
  json::array nodes;
  const auto url = Secrets(directory.path).expand(settings.cluster.database);
  const auto programs = postgres::placed_programs(url);
  for (const auto& node : postgres::node_statuses(url)) {
    nodes.push_back(json::object{{"node", node.name},
                                 {"lease_s", std::floor(node.lease)},
                                 {"address", text_or_null(node.address)},
                                 {"connected_at", text_or_null(node.connected_at)},
                                 {"leads", node.leads},
                                 {"runs", node.runs},
                                 {"version", node.version},
                                 {"behind", node.behind},
                                 {"programs", names_at(node.name, programs)}});
  }
  return nodes;
}

std::string lease_text(const json::object& node) {
  const auto seconds = static_cast<int>(node.at("lease_s").to_number<double>());
  return seconds >= 0 ? fmt::format("{} s", seconds) : fmt::format("expired for {} s", -seconds);
}

std::string programs_text(const json::object& node) {
  return fmt::format("{}", fmt::join(strings_of(node, "programs"), ", "));
}

int cluster_status(const ListOptions& options) {
  const auto nodes = nodes_of(find_data_directory(options.data_dir, process_environment()));
  if (options.json) {
    print_json(nodes);
    return 0;
  }
  const std::vector<Column> columns{
      text_column("NODE", "node"),
      {"LEASE", lease_text},
      text_column("FROM", "address"),
      time_column("SINCE", "connected_at"),
      {"RUNS", [](const json::object& node) { return to_json(node.at("runs")); }},
      text_column("VERSION", "version"),
      {"BEHIND", [](const json::object& node) { return to_json(node.at("behind")); }},
      {"LEADS", [](const json::object& node) { return node.at("leads").as_bool() ? "yes" : ""; }},
      {"PROGRAMS", programs_text}};
  std::cout << list_text(nodes, columns);
  return 0;
}

}  // namespace

Action cluster_status_command(Arguments& arguments) {
  auto options = std::make_shared<ListOptions>();
  declare(arguments, *options, "Print the list as JSON");
  return [options] { return cluster_status(*options); };
}

}  // namespace agw::cli
