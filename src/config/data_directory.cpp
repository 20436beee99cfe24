#include "config/data_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/text/is_within.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& message) { throw StartError(ExitStatus::usage, message); }

fs::path find_home(const Environment& environment) {
  const auto home = environment("HOME");
  if (!home) refuse("HOME is not set: set it to your home directory, which the gateway works in");
  std::error_code error;
  auto resolved = fs::canonical(*home, error);
  if (error || !fs::path(*home).is_absolute() || !fs::is_directory(resolved, error)) {
    refuse(fmt::format("HOME is {}, which is not a directory: set it to your home directory", *home));
  }
  return resolved;
}

fs::path resolve(const fs::path& path) {
  std::error_code error;
  auto resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) refuse(fmt::format("cannot use {} as data directory: {}", path.string(), error.message()));
  // A trailing slash results in an empty last component.
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

void create(const fs::path& path) {
  fs::path made;
  for (const auto& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const auto error = errno;
    std::error_code ignored;
    // For an existing parent the error can be another one: a read-only file system, or another owner.
    if (fs::is_directory(made, ignored)) continue;
    refuse(fmt::format("cannot create the data directory {}: {}; name another with --data-dir", path.string(),
                       std::strerror(error)));
  }
}

/// The directory, and what in it no start can do without.
constexpr std::array<std::string_view, 12> needed = {
    "",     data_files::token,   data_files::database,    "gateway.db-wal", data_files::lock, data_files::configuration,
    "logs", data_files::secrets, data_files::checkpoints, "agents",         "jobs",           "knowledge"};

bool is_foreign(const fs::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid() && ::access(path.c_str(), R_OK) != 0 &&
         errno == EACCES;
}

}  // namespace

DataDirectory find_data_directory(const std::optional<std::string>& flag, const Environment& environment) {
  DataDirectory found{.home = find_home(environment), .path = {}, .own = {}};
  if (flag && flag->empty()) refuse("--data-dir must name a directory");
  const auto variable = environment("AGENT_GATEWAY_DATA_DIR");
  found.path = resolve(flag ? *flag : variable ? *variable : (found.home / ".agent-gateway").string());
  found.own = found.path;
  return found;
}

std::optional<fs::path> foreign_file(const fs::path& data_directory) {
  for (const auto name : needed) {
    if (const auto path = name.empty() ? data_directory : data_directory / name; is_foreign(path)) return path;
  }
  return std::nullopt;
}

std::string foreign_file_remedy(const fs::path& data_directory) {
  return "run agw as that user, or: sudo chown -R $USER " + shell_quoted(data_directory.string());
}

void refuse_foreign_file(const fs::path& data_directory) {
  if (const auto file = foreign_file(data_directory))
    refuse(fmt::format("{} belongs to another user: {}", file->string(), foreign_file_remedy(data_directory)));
}

std::string prepare_data_directory(const DataDirectory& directory) {
  const auto path = directory.path.string();
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    create(directory.path);
    if (::stat(path.c_str(), &status) != 0) refuse(fmt::format("cannot use {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISDIR(status.st_mode)) refuse(fmt::format("the data directory {} is no directory", path));
  if ((status.st_mode & 077) != 0) {
    refuse(fmt::format("the data directory {} is open to others (mode {:04o}): run chmod 700 '{}'", path,
                       status.st_mode & 07777u, path));
  }
  refuse_foreign_file(directory.path);
  if (is_within(directory.path, directory.home)) return {};
  return fmt::format("the data directory {} lies outside your home directory {}", path, directory.home.string());
}

fs::path own_directory(const fs::path& data_directory, const Settings& settings) {
  if (settings.cluster.files == ClusterFiles::own) return data_directory;
  return data_directory / data_files::nodes / settings.cluster.node;
}

void prepare_own_directory(DataDirectory& directory, const Settings& settings) {
  const bool is_shared = settings.cluster.files == ClusterFiles::shared;
  const auto nodes = directory.path / data_files::nodes;
  if (is_shared && settings.cluster.node.empty()) {
    refuse("cluster.files: shared needs cluster.node: only nodes share a data directory");
  }
  std::error_code ignored;
  if (!is_shared && fs::exists(nodes, ignored)) {
    refuse(
        fmt::format("the data directory {} is shared by nodes of a cluster: set cluster.files to shared, and "
                    "cluster.node, or name another one with --data-dir ({} is where they have what is their own; "
                    "if they share it no more, remove it)",
                    directory.path.string(), nodes.string()));
  }
  directory.own = own_directory(directory.path, settings);
  if (is_shared) create(directory.own);
}

}  // namespace agw
