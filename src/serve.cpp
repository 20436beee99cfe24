#include "serve.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/log.hpp"
#include "base/text/numbers.hpp"
#include "config/addresses.hpp"
#include "config/settings.hpp"
#include "gateway/run_gateway.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/disk_full.hpp"
#include "io/process/process_setup.hpp"
#include "io/process/worker_thread.hpp"
#include "io/sandbox/sandbox_placeholders.hpp"
#include "storage/open.hpp"
#include "storage/postgres/errors.hpp"

namespace agw {

namespace {

constexpr std::int64_t files_besides_connections = 512;

SettingsSources find_settings(const ServeOptions& options, const DataDirectory& directory) {
  if (options.config && options.config->empty()) throw StartError(ExitStatus::usage, "--config must name a file");
  SettingsSources sources;
  if (options.host) sources.flags["host"] = *options.host;
  if (options.port) sources.flags["port"] = std::to_string(*options.port);
  if (options.no_token) sources.flags["auth"] = "none";
  if (options.log_level) sources.flags["log_level"] = *options.log_level;
  sources.file = options.config ? std::filesystem::path(*options.config) : directory.path / data_files::configuration;
  sources.file_must_exist = options.config.has_value();
  if (!options.config) write_example_configuration(sources.file);
  return sources;
}

void warn(const std::string& text) {
  if (!text.empty()) log::warn("{}", text);
}

/// Removes temporary files of interrupted writes. A command may be writing one now: recent ones stay.
void remove_temporary_files(const std::filesystem::path& data_directory) {
  namespace fs = std::filesystem;
  std::vector<fs::path> directories{data_directory};
  // Not deeper: what agents and integrations have there can be much.
  for (const auto* place : {"", "agents", "jobs", "knowledge"}) {
    std::error_code error;
    for (fs::directory_iterator entry(data_directory / place, error), end; !error && entry != end;
         entry.increment(error))
      directories.push_back(entry->path());
  }
  std::size_t removed = 0;
  for (const auto& directory : directories) removed += remove_stale_temporary_files(directory, std::chrono::hours(1));
  if (removed > 0) log::info("removed {} files of writes that were cut short", removed);
}

/// With fewer, the gateway would start, and then fail in the middle of its work.
void check_file_limit() {
  if (const auto problem = file_limit_problem()) throw StartError(ExitStatus::failure, *problem);
}

/// Connections over the limit get an error response; without a descriptor they could not even be accepted, and no file
/// could be opened. Returns a warning.
std::string reserve_file_descriptors(Settings& settings) {
  const auto max_files = static_cast<std::int64_t>(std::min<std::size_t>(raise_file_limit(), INT_MAX));
  const auto for_connections = std::max(max_files - files_besides_connections, max_files / 2);
  const auto wanted = settings.limits.connections;
  if (wanted <= for_connections) return {};
  settings.limits.connections = for_connections;
  return fmt::format("limits.connections is {} instead of {}: this process may open no more than {} files (ulimit -Hn)",
                     for_connections, wanted, max_files);
}

/// The port that the gateway had before it restarted; clients know it, even if `--port 0` was given.
constexpr const char* port_before = "AGW_PORT_BEFORE_RESTART";

std::optional<int> take_port_before() {
  const auto text = process_environment()(port_before);
  ::unsetenv(port_before);  // NOLINT(concurrency-mt-unsafe): no thread was started yet
  return text ? parse_port(*text) : std::nullopt;
}

GatewayEnd start_and_serve(const ServeOptions& options, DataDirectory directory, std::optional<int> previous_port) {
  const auto outside_home = prepare_data_directory(directory);
  const auto sources = find_settings(options, directory);
  auto settings = load_settings(sources);
  const auto configured = settings;
  const auto exposed = check_binding(settings);
  prepare_own_directory(directory, settings);
  LockFile lock(directory.own);
  log::use(settings.logging.format);
  log::open(directory.own / "logs", settings.log_level);
  warn(outside_home);
  warn(exposed);
  warn(reserve_file_descriptors(settings));
  if (settings.auth == Auth::none) log::warn("running without a token: every endpoint that needs one answers 401");

  // Before any command can need them again.
  if (const auto swept = remove_stale_placeholders(directory.own); swept > 0) {
    log::info("removed {} placeholders that a killed gateway had left in projects", swept);
  }
  const WorkerThread sweeping("agw-sweep", [path = directory.path] {
    ::setpriority(PRIO_PROCESS, 0, 19);  // only of this thread: the start comes first
    remove_temporary_files(path);
  });
  if (previous_port && settings.port == 0) settings.port = *previous_port;
  const auto end = run_gateway(directory, settings, {sources, configured}, lock, options.trace_loop);
  log::info("stopped");
  return end;
}

[[noreturn]] void refuse_server(const DatabaseError& error, std::string_view remedy = "") {
  throw StartError(ExitStatus::failure,
                   fmt::format("the database (cluster.database) cannot be used: {}{}", error.what(), remedy));
}

[[noreturn]] void refuse_full_disk(const std::filesystem::path& data_directory, const std::exception& error) {
  throw StartError(
      ExitStatus::failure,
      fmt::format("{} (the disk that holds the data directory {} is full, or has no free inodes: make room "
                  "on that disk, then start again)",
                  error.what(), data_directory.string()));
}

GatewayEnd serve_until_stopped(const ServeOptions& options, std::optional<int> previous_port) {
  check_file_limit();
  const auto directory = find_data_directory(options.data_dir, process_environment());
  try {
    return start_and_serve(options, directory, previous_port);
  } catch (const postgres::ServerDiskFull& error) {
    refuse_server(error, ". Make room on the disk of the server");
  } catch (const postgres::ServerError& error) {
    refuse_server(error);
  } catch (const DatabaseUnavailable& error) {
    refuse_server(error);
  } catch (const DiskFull&) {
    // SQLite's text names a statement, and not the remedy.
    throw StartError(ExitStatus::failure,
                     fmt::format("the disk that holds the data directory {} is full, and the gateway cannot start "
                                 "without writing to it. Make room on that disk, then start it again.",
                                 directory.path.string()));
  } catch (const DatabaseError& error) {
    refuse_database(directory.database(), directory.backups(), error);
  } catch (const std::system_error& error) {
    if (!is_disk_full(error.code())) throw;
    refuse_full_disk(directory.path, error);
  } catch (const StartError& error) {
    if (error.status() != ExitStatus::failure || !is_on_full_disk(directory.path)) throw;
    refuse_full_disk(directory.path, error);
  }
}

/// Until the gateway handles them itself: unfinished work is as after a kill, and nothing has been acknowledged.
/// Returns whether SIGHUP is ignored.
bool exit_on_signals() {
  bool hangup_is_ignored = false;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // Under nohup, SIGHUP is ignored and stays so.
    if (std::signal(signal, [](int) { ::_exit(static_cast<int>(ExitStatus::success)); }) != SIG_IGN) continue;
    std::signal(signal, SIG_IGN);
    hangup_is_ignored |= signal == SIGHUP;
  }
  return hangup_is_ignored;
}

/// If nobody can read it, the exit status still reports the failure.
void report_error(const std::exception& error) { std::fputs(fmt::format("agw: {}\n", error.what()).c_str(), stderr); }

/// Whether a restart runs the program again in this process, because nobody else would.
bool restarts_itself(const ServeOptions& options) {
  return options.restart == "exec" || (options.restart != "exit" && is_started_by_hand());
}

}  // namespace

int serve(const ServeOptions& options) {
  // A client or a reader of the output that goes away must not end the gateway; nor a file size limit.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const bool hangup_is_ignored = exit_on_signals();
  const auto program = program_path();
  const auto previous_port = take_port_before();
  GatewayEnd end{.status = ExitStatus::failure};
  auto& status = end.status;
  try {
    end = serve_until_stopped(options, previous_port);
  } catch (const StartError& error) {
    report_error(error);
    status = error.status();
  } catch (const std::exception& error) {
    report_error(error);
  }
  log::close();
  if (status == ExitStatus::restart && restarts_itself(options)) {
    const auto why = restart_program(program, port_before, std::to_string(end.port), hangup_is_ignored);
    report_error(StartError(status, "cannot run the program again: " + why));
  }
  return static_cast<int>(status);
}

}  // namespace agw
