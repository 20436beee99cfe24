#include "serve.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>

#include "base/log.hpp"
#include "config/binding.hpp"
#include "gateway.hpp"
#include "io/leftovers.hpp"
#include "io/worker_thread.hpp"
#include "storage/connection.hpp"

namespace agw {

namespace {

Settings read_settings(const ServeOptions& options, const DataDirectory& directory) {
  SettingsSources sources;
  if (options.host) sources.flags["host"] = *options.host;
  if (options.port) sources.flags["port"] = std::to_string(*options.port);
  if (options.no_token) sources.flags["auth"] = "none";
  if (options.log_level) sources.flags["log_level"] = *options.log_level;
  sources.file = options.config ? std::filesystem::path(*options.config) : directory.path / "config.yaml";
  sources.file_must_exist = options.config.has_value();
  if (!options.config) write_example_configuration(sources.file);
  return load_settings(sources);
}

void warn(const std::string& text) {
  if (!text.empty()) log::warn("{}", text);
}

/// Of writes that a kill cut short. A command may be writing just now: what is younger stays.
void sweep(const std::filesystem::path& data_directory) {
  std::size_t removed = 0;
  for (const auto& directory : {data_directory, data_directory / "attachments"}) {
    removed += remove_leftovers(directory, std::chrono::hours(1));
  }
  if (removed > 0) log::info("removed {} files of writes that were cut short", removed);
}

bool is_full(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::space(path, unknown).available == 0 && !unknown;
}

ExitStatus start_and_serve(const ServeOptions& options, const DataDirectory& directory) {
  const auto outside_home = prepare_data_directory(directory);
  const auto settings = read_settings(options, directory);
  const auto exposed = check_binding(settings);
  LockFile lock(directory.path);
  log::use(settings.logging.format);
  log::open(directory.path / "logs", settings.log_level);
  warn(outside_home);
  warn(exposed);
  if (settings.auth == Auth::none) log::warn("running without a token: every endpoint that needs one answers 401");

  const WorkerThread sweeping("agw-sweep", [path = directory.path] { sweep(path); });
  const auto status = run_gateway(directory, settings, lock);
  log::info("stopped");
  return status;
}

ExitStatus serve_until_stopped(const ServeOptions& options) {
  const auto directory = find_data_directory(options.data_dir, process_environment());
  try {
    return start_and_serve(options, directory);
  } catch (const DiskFull&) {
    // SQLite's words name a statement, and not what to do.
    throw StartError(ExitStatus::failure,
                     fmt::format("the disk that holds the data directory {} is full, and the gateway cannot start "
                                 "without writing to it. Make room on that disk, then start it again.",
                                 directory.path.string()));
  } catch (const StartError& error) {
    if (error.status() != ExitStatus::failure || !is_full(directory.path)) throw;
    throw StartError(error.status(), fmt::format("{} (the disk that holds the data directory {} is full: make room on "
                                                 "that disk, then start again)",
                                                 error.what(), directory.path.string()));
  }
}

}  // namespace

int serve(const ServeOptions& options) {
  // A client, or who reads its output, that goes away must not end the gateway.
  std::signal(SIGPIPE, SIG_IGN);
  auto status = ExitStatus::failure;
  try {
    status = serve_until_stopped(options);
  } catch (const StartError& error) {
    fmt::print(stderr, "agw: {}\n", error.what());
    status = error.status();
  } catch (const std::exception& error) {
    fmt::print(stderr, "agw: {}\n", error.what());
  }
  log::close();
  return static_cast<int>(status);
}

}  // namespace agw
