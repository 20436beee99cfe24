#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "cli/doctor/doctor.hpp"
#include "config/addresses.hpp"
#include "config/settings.hpp"
#include "io/files/descriptor.hpp"
#include "models/prices.hpp"
#include "server/http/tls.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;
using State = CheckResult::State;

void check_prices(const fs::path& file, CheckResults& results) {
  try {
    const Prices prices(file);
    if (fs::exists(file)) results.push_back({"prices", State::good, file.string()});
  } catch (const std::exception& error) {
    results.push_back({"prices", State::failure, error.what(), "fix that line, or move the file away"});
  }
}

void check_tls(const Settings& settings, CheckResults& results) {
  if (settings.tls.cert.empty()) return;
  try {
    const auto tls = configured_tls(settings.tls);
    for (const auto& warning : tls->warnings())
      results.push_back({"tls", State::warning, warning, "renew the certificate, or make its key private (chmod 600)"});
    if (tls->warnings().empty())
      results.push_back({"tls", State::good, fmt::format("{} is usable", settings.tls.cert.string())});
  } catch (const std::exception& error) {
    results.push_back({"tls", State::failure, error.what(), "set tls.cert and tls.key in config.yaml to PEM files"});
  }
}

void check_address(const Settings& settings, CheckResults& results) {
  try {
    if (auto warning = check_binding(settings); !warning.empty())
      results.push_back({"address", State::warning, std::move(warning)});
  } catch (const StartError& error) {
    results.push_back({"address", State::failure, error.what(), "set host or auth in config.yaml"});
  }
}

/// The gateway creates missing directories, so only other files are a problem.
bool is_in_the_way(const fs::path& path) {
  std::error_code error;
  // A dangling symlink counts as existing.
  return fs::exists(fs::symlink_status(path, error)) && !fs::is_directory(path, error);
}

void check_logs(const fs::path& directory, CheckResults& results) {
  if (is_in_the_way(directory)) {
    results.push_back({"logs", State::failure, fmt::format("{} is not a directory", directory.string()),
                       obstruction_remedy(directory)});
    return;
  }
  const auto file = directory / data_files::log;
  const Descriptor log(::open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (log) return;
  const int why = errno;
  if (why == EROFS) return;  // reported for the data directory
  const bool is_there = ::access(directory.c_str(), F_OK) == 0;
  const bool can_be_made = why == ENOENT && (!is_there || ::access(directory.c_str(), W_OK | X_OK) == 0);
  if (can_be_made) return;
  const auto reason = why == ENOENT ? "its directory is not writable" : std::strerror(why);
  results.push_back({"logs", State::failure, fmt::format("{} cannot be written: {}", file.string(), reason),
                     fmt::format("chmod -R u+rwX {}, or move it away", shell_quoted(directory.string()))});
}

void check_directories(const fs::path& data_directory, CheckResults& results) {
  for (const auto* name : {"agents", "jobs", "knowledge", "attachments", "backups", "trash"}) {
    const auto path = data_directory / name;
    if (!is_in_the_way(path)) continue;
    results.push_back(
        {name, State::warning,
         fmt::format("{} is not a directory: the gateway starts, but can keep nothing there", path.string()),
         obstruction_remedy(path)});
  }
}

}  // namespace

CheckResults check_start(const DoctorContext& context) {
  CheckResults results;
  const auto& directory = context.directory.path;
  if (fs::is_directory(directory)) {
    check_prices(directory / data_files::prices, results);
    if (const auto own = own_directory_of(context)) check_logs(*own / "logs", results);
    check_directories(directory, results);
  }
  if (!context.settings) return results;
  check_tls(*context.settings, results);
  check_address(*context.settings, results);
  return results;
}

}  // namespace agw::cli
