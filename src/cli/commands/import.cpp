#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/table.hpp"
#include "cli/transfer/importer.hpp"
#include "cli/transfer/readers.hpp"
#include "config/environment.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  std::string what;
  std::optional<std::string> path;
  bool dry_run = false;
  bool with_keys = false;
  ListOptions list;
};

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const auto& source : import_sources()) names.emplace_back(source.name);
  return names;
}

const ImportSource& source_named(const std::string& name) {
  for (const auto& source : import_sources()) {
    if (source.name == name) return source;
  }
  throw StartError(ExitStatus::usage, "there is no such source: " + name);
}

/// The variables with which people move the directories of the programs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> directory_variables{{
    {"claude-code", "CLAUDE_CONFIG_DIR"},
    {"codex", "CODEX_HOME"},
    {"hermes", "HERMES_HOME"},
    {"openclaw", "OPENCLAW_STATE_DIR"},
}};

fs::path place_of(const ImportSource& source, const std::optional<std::string>& path) {
  if (path) return *path;
  if (source.where.empty())
    throw StartError(ExitStatus::usage,
                     fmt::format("name the file: agw import {} FILE ({})", source.name, source.program));
  const auto environment = process_environment();
  for (const auto& [name, variable] : directory_variables) {
    const auto moved = name == source.name ? environment(std::string(variable)) : std::nullopt;
    if (moved && !moved->empty()) return *moved;
  }
  const auto home = environment("HOME");
  if (!home) throw StartError(ExitStatus::usage, "HOME is not set: name the directory");
  return fs::path(*home) / source.where;
}

json::object as_json(const Importer& importer, bool dry_run) {
  json::object counts;
  for (const auto& [kind, count] : importer.counts())
    counts[kind] = json::object{{"created", count.created}, {"kept", count.kept}};
  json::array left;
  for (const auto& each : importer.left_out()) left.push_back(json::object{{"what", each.what}, {"why", each.why}});
  return {{"source", importer.source()},
          {"dry_run", dry_run},
          {"counts", std::move(counts)},
          {"left_out", std::move(left)},
          {"left_out_count", importer.left_out_count()},
          {"notes", json::array(importer.notes().begin(), importer.notes().end())}};
}

void print_counts(const Importer& importer, bool dry_run) {
  std::vector<Row> rows{dry_run ? Row{"KIND", "COUNT"} : Row{"KIND", "NEW", "ALREADY THERE"}};
  for (const auto& [kind, count] : importer.counts()) {
    rows.push_back({kind, std::to_string(count.created)});
    if (!dry_run) rows.back().push_back(std::to_string(count.kept));
  }
  if (rows.size() > 1) std::cout << table(rows);
  if (rows.size() == 1) std::cerr << "There is nothing to take over.\n";
}

void print_left_out(const Importer& importer) {
  if (importer.left_out().empty()) return;
  std::vector<Row> rows{{"NOT TAKEN", "WHY"}};
  for (const auto& each : importer.left_out()) rows.push_back({one_line(each.what, 80), one_line(each.why)});
  std::cout << '\n' << table(rows);
  const auto more = importer.left_out_count() - importer.left_out().size();
  if (more > 0) std::cout << fmt::format("… and {} more\n", more);
}

void print(const Importer& importer, const ImportOptions& options) {
  if (options.list.json) return print_json(as_json(importer, options.dry_run));
  print_counts(importer, options.dry_run);
  print_left_out(importer);
  if (!importer.notes().empty()) std::cout << '\n';
  for (const auto& note : importer.notes()) std::cout << one_line(note) << '\n';
  if (options.dry_run) std::cerr << "Nothing was written. Without --dry-run, this is taken over.\n";
}

/// A dry run works without a gateway, but reports more if one runs.
std::optional<FoundGateway> gateway_for(const ImportOptions& options) {
  if (!options.dry_run) return find_gateway(options.list.data_dir);
  const auto running = running_gateway(data_directory(options.list.data_dir));
  return running && !running->url.empty() ? std::optional(find_gateway(options.list.data_dir)) : std::nullopt;
}

int import(const ImportOptions& options) {
  const auto& source = source_named(options.what);
  const auto place = place_of(source, options.path);
  const auto gateway = gateway_for(options);
  Importer importer(std::string(source.name), place, gateway ? &*gateway : nullptr, options.with_keys, options.dry_run);
  source.read(importer, place);
  importer.finish();
  print(importer, options);
  return 0;
}

}  // namespace

Action import_command(Arguments& arguments) {
  auto options = std::make_shared<ImportOptions>();
  arguments.word("what", options->what, source_names(), "The program to take over from");
  arguments.word("path", options->path, "Its directory, or its export (default: its directory in home)");
  arguments.flag("--dry-run", options->dry_run, "Only show what would be taken over");
  arguments.flag("--with-keys", options->with_keys, "Take keys, too, and store them as secrets");
  declare(arguments, options->list, "Print the result as JSON");
  return [options] { return import(*options); };
}

}  // namespace agw::cli
