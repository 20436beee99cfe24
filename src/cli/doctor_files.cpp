#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/is_within.hpp"
#include "cli/doctor.hpp"
#include "cli/printable.hpp"
#include "features/access/token.hpp"
#include "storage/integrity.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;
using State = Finding::State;

constexpr mode_t others = 077;

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// That nobody else can read or change it.
Finding private_finding(std::string check, const fs::path& path, const struct stat& status) {
  const auto shown = path.string();
  if (status.st_uid != ::geteuid()) {
    return {std::move(check), State::failure, fmt::format("{} belongs to another user", shown),
            fmt::format("run agw as that user, or: sudo chown -R $USER {}", in_quotes(shown))};
  }
  if ((status.st_mode & others) != 0) {
    return {std::move(check), State::failure,
            fmt::format("{} is open to others (mode {:o})", shown, status.st_mode & 07777U),
            fmt::format("chmod go-rwx {}", in_quotes(shown))};
  }
  return {std::move(check), State::good, fmt::format("{} is yours alone", shown)};
}

/// As the gateway sees it, which takes the mark of its owner for meant even where it runs as root.
bool is_writable(const fs::path& path, const struct stat& status) {
  return (status.st_mode & S_IWUSR) != 0 && ::access(path.c_str(), R_OK | W_OK) == 0;
}

Finding directory_finding(const Patient& patient) {
  const auto& path = patient.directory.path;
  const auto status = status_of(path);
  if (!status) {
    return {"data directory", State::warning, fmt::format("{} is not there yet", path.string()),
            "start the gateway once: agw serve"};
  }
  if (!S_ISDIR(status->st_mode)) {
    return {"data directory", State::failure, fmt::format("{} is no directory", path.string()),
            out_of_the_way(path) + ", or name another with --data-dir"};
  }
  auto finding = private_finding("data directory", path, *status);
  if (finding.state == State::good && !is_writable(path, *status)) {
    return {"data directory", State::failure, fmt::format("{} is not writable", path.string()),
            "chmod u+rwx " + in_quotes(path.string())};
  }
  if (finding.state == State::good && !is_within(path, patient.directory.home)) {
    finding.state = State::warning;
    finding.what += ", but lies outside your home directory";
  }
  return finding;
}

/// A file that holds no token goes; one that is only open to others, or closed to its owner, is kept.
std::string token_remedy(const fs::path& path) {
  struct stat status{};
  const bool is_file = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const bool wrong_mode = (status.st_mode & others) != 0 || ::access(path.c_str(), R_OK) != 0;
  if (is_file && wrong_mode) return "chmod 600 " + in_quotes(path.string());
  return fmt::format("rm {}, and start the gateway anew: it makes a new token", in_quotes(path.string()));
}

Finding token_finding(const fs::path& directory) {
  const auto path = directory / data_files::token;
  try {
    const auto token = Token::load(directory);
    if (!token) return {"token", State::skipped, "there is none: the next start makes it"};
  } catch (const std::exception& error) {
    return {"token", State::failure, error.what(), token_remedy(path)};
  }
  return {"token", State::good, fmt::format("{} is yours alone", path.string())};
}

}  // namespace

Findings check_files(const Patient& patient) {
  Findings findings{directory_finding(patient)};
  const auto& directory = patient.directory.path;
  if (!fs::is_directory(directory)) return findings;
  findings.push_back(token_finding(directory));
  if (const auto status = status_of(directory / data_files::secrets)) {
    findings.push_back(private_finding("secrets", directory / data_files::secrets, *status));
  }
  return findings;
}

Findings check_configuration(Patient& patient) {
  SettingsSources sources;
  sources.file = patient.directory.path / data_files::configuration;
  try {
    patient.settings = load_settings(sources);
  } catch (const StartError& error) {
    const auto remedy = fs::is_directory(sources.file)
                            ? out_of_the_way(sources.file)
                            : "mend what it names; the comments of config.yaml explain each key";
    return {{"configuration", State::failure, error.what(), remedy}};
  }
  return {{"configuration", State::good,
           fs::exists(sources.file) ? sources.file.string() : std::string("there is none: the defaults count")}};
}

Findings check_stored(const Patient& patient) {
  const auto file = patient.directory.database();
  std::error_code missing;
  // A link that leads nowhere is there too.
  if (!fs::exists(fs::symlink_status(file, missing))) return {{"database", State::skipped, "there is none yet"}};
  const auto status = status_of(file);
  if (!status || !S_ISREG(status->st_mode)) {
    return {{"database", State::failure, fmt::format("{} is no file", file.string()), out_of_the_way(file)}};
  }
  if (status->st_size == 0) return {{"database", State::skipped, "it is empty: the next start fills it"}};
  if (!is_writable(file, *status)) {
    return {{"database", State::failure, fmt::format("{} is not writable", file.string()),
             "chmod u+rw " + in_quotes(file.string())}};
  }
  const auto problem = database_problem(file);
  if (!problem) return {{"database", State::good, fmt::format("{} is whole", file.string())}};
  return {
      {"database", State::failure, *problem,
       fmt::format("stop the gateway and bring back a backup: agw restore <file>; {} has copies made before upgrades",
                   patient.directory.backups().string())}};
}

}  // namespace agw::cli
