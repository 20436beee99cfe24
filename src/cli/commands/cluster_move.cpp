#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "cli/command_table.hpp"
#include "cli/output/progress.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/knowledge/service.hpp"
#include "features/secrets/service.hpp"
#include "io/files/lock_file.hpp"
#include "storage/postgres/record_move.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

struct MoveOptions {
  std::optional<std::string> data_dir;
};

Settings settings_of(const DataDirectory& directory) {
  auto settings = load_settings({.file = directory.path / data_files::configuration});
  if (!settings.cluster.database.empty()) return settings;
  throw StartError(ExitStatus::failure,
                   fmt::format("cluster.database is not set in {}: name the PostgreSQL database there",
                               (directory.path / data_files::configuration).string()));
}

postgres::RecordMove move_of(const DataDirectory& directory, Progress& progress) {
  const auto settings = settings_of(directory);
  return {
      .url = Secrets(directory.path).expand(settings.cluster.database),
      .node = settings.cluster.node,
      .shares_files = settings.cluster.files == ClusterFiles::shared,
      .file = directory.database(),
      .backups = directory.backups(),
      .progress = [&progress](const std::string& table, auto done, auto total) { progress.show(table, done, total); },
      .index = Knowledge::rebuild_index};
}

int init(const MoveOptions& options) {
  const auto directory = find_data_directory(options.data_dir, process_environment());
  prepare_data_directory(directory);
  const LockFile lock(directory.path);
  Progress progress;
  const auto moved = postgres::move_to_server(move_of(directory, progress));
  std::cerr << fmt::format("{} rows are in the {}, and were compared. The old file is kept as {}.\n", moved.rows,
                           moved.server, moved.file.string());
  return 0;
}

int leave(const MoveOptions& options) {
  const auto directory = find_data_directory(options.data_dir, process_environment());
  prepare_data_directory(directory);
  const LockFile lock(directory.path);
  Progress progress;
  const auto moved = postgres::move_to_file(move_of(directory, progress));
  fs::remove(directory.path / data_files::cluster);
  std::cerr << fmt::format(
      "{} rows are in {}, and were compared. Remove the section cluster from {}, else the gateway "
      "does not start. The {} is as it was.\n",
      moved.rows, moved.file.string(), (directory.path / data_files::configuration).string(), moved.server);
  return 0;
}

Action command(Arguments& arguments, int (*move)(const MoveOptions&)) {
  auto options = std::make_shared<MoveOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options, move] { return move(*options); };
}

}  // namespace

Action cluster_init_command(Arguments& arguments) { return command(arguments, init); }

Action cluster_leave_command(Arguments& arguments) { return command(arguments, leave); }

}  // namespace agw::cli
