#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/text/is_within.hpp"
#include "base/time/time.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/output/table.hpp"
#include "features/access/token.hpp"
#include "features/secrets/service.hpp"
#include "io/files/disk_full.hpp"
#include "io/tls/certificate_authority.hpp"
#include "storage/backup.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;
using State = CheckResult::State;

constexpr mode_t others = 077;

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// Checks that no other user can read or change it.
CheckResult check_privacy(std::string check, const fs::path& path, const struct stat& status) {
  const auto shown = path.string();
  if (status.st_uid != ::geteuid()) {
    return {std::move(check), State::failure, fmt::format("{} belongs to another user", shown),
            foreign_file_remedy(path)};
  }
  if ((status.st_mode & others) != 0) {
    return {std::move(check), State::failure,
            fmt::format("{} is open to others (mode {:o})", shown, status.st_mode & 07777U),
            fmt::format("chmod go-rwx {}", shell_quoted(shown))};
  }
  return {std::move(check), State::good, fmt::format("{} is yours alone", shown)};
}

/// As the gateway decides it: by the owner's permission bits, even when it runs as root.
bool is_writable(const fs::path& path, const struct stat& status) {
  return (status.st_mode & S_IWUSR) != 0 && ::access(path.c_str(), R_OK | W_OK) == 0;
}

/// The mode is what the owner lacks, for chmod.
CheckResult not_writable(std::string check, const fs::path& path, std::string_view mode) {
  const auto shown = path.string();
  if (::access(path.c_str(), W_OK) != 0 && errno == EROFS) {
    return {std::move(check), State::failure, fmt::format("{} is on a read-only file system", shown),
            fmt::format("mount it read-write; findmnt -T {} names it", shell_quoted(shown))};
  }
  return {std::move(check), State::failure, fmt::format("{} is not writable", shown),
          fmt::format("chmod {} {}", mode, shell_quoted(shown))};
}

bool can_be_entered(const fs::path& directory, const struct stat& status) {
  return (status.st_mode & S_IXUSR) != 0 && ::access(directory.c_str(), X_OK) == 0;
}

/// Whether a start can create the data directory.
CheckResult check_creation(const fs::path& path) {
  auto parent = path.parent_path();
  while (!status_of(parent) && parent.has_relative_path()) parent = parent.parent_path();
  if (::access(parent.c_str(), W_OK | X_OK) != 0) {
    return {"data directory", State::failure,
            fmt::format("{} cannot be created: {} is not writable", path.string(), parent.string()),
            "name another with --data-dir"};
  }
  return {"data directory", State::warning, fmt::format("{} does not exist yet", path.string()),
          "start the gateway once: agw serve"};
}

CheckResult check_directory(const DoctorContext& context) {
  const auto& path = context.directory.path;
  const auto status = status_of(path);
  if (!status) return check_creation(path);
  if (!S_ISDIR(status->st_mode)) {
    return {"data directory", State::failure, fmt::format("{} is not a directory", path.string()),
            obstruction_remedy(path) + ", or name another with --data-dir"};
  }
  if (const auto foreign = foreign_file(path)) {
    return {"data directory", State::failure, foreign->string() + " belongs to another user",
            foreign_file_remedy(path)};
  }
  auto result = check_privacy("data directory", path, *status);
  const bool can_enter = can_be_entered(path, *status);
  if (result.state == State::good && !can_enter) {
    return {"data directory", State::failure, fmt::format("{} cannot be entered", path.string()),
            "chmod u+rwx " + shell_quoted(path.string())};
  }
  if (result.state == State::good && !is_writable(path, *status)) return not_writable("data directory", path, "u+rwx");
  if (result.state == State::good && !is_within(path, context.directory.home)) {
    result.state = State::warning;
    result.what += ", but is outside your home directory";
  }
  return result;
}

/// A file without a token should be removed; one with only the wrong mode is kept.
std::string token_remedy(const fs::path& path) {
  struct stat status{};
  const bool is_file = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const bool wrong_mode = (status.st_mode & others) != 0 || ::access(path.c_str(), R_OK) != 0;
  if (is_file && wrong_mode) return "chmod 600 " + shell_quoted(path.string());
  return fmt::format("rm {}, and restart the gateway: it creates a new token", shell_quoted(path.string()));
}

CheckResult check_token(const fs::path& directory) {
  const auto path = directory / data_files::token;
  try {
    const auto token = Token::load(directory);
    if (!token) return {"token", State::skipped, "missing: the next start creates it"};
  } catch (const std::exception& error) {
    return {"token", State::failure, error.what(), token_remedy(path)};
  }
  return {"token", State::good, fmt::format("{} is yours alone", path.string())};
}

/// Checks that the secrets can be read, because everything that uses one fails otherwise.
std::optional<CheckResult> check_secrets(const fs::path& directory) {
  const auto file = directory / data_files::secrets;
  const auto status = status_of(file);
  if (!status) return std::nullopt;
  auto privacy = check_privacy("secrets", file, *status);
  if (privacy.state != State::good) return privacy;
  try {
    Secrets(directory).names();
  } catch (const SecretError& error) {
    const auto remedy =
        S_ISREG(status->st_mode) ? "fix the file, one NAME: \"value\" per line" : obstruction_remedy(file);
    return CheckResult{"secrets", State::failure, error.what(), remedy};
  }
  return privacy;
}

/// Checks the authority whose certificates are shown to programs with `secrets`. The first such program creates it.
std::optional<CheckResult> check_authority(const fs::path& file) {
  constexpr auto check = "authority";
  struct stat status{};
  if (::lstat(file.c_str(), &status) != 0) return std::nullopt;
  if (auto privacy = check_privacy(check, file, status); S_ISREG(status.st_mode) && privacy.state != State::good)
    return privacy;
  try {
    const auto now = SystemClock().now();
    const auto end = CertificateAuthority::end_in(file).value_or(now);
    const auto day = to_iso8601(end).substr(0, std::string_view("2026-11-25").size());
    if (end > now + CertificateAuthority::renewal_time)
      return CheckResult{check, State::good, fmt::format("{} is yours alone, and valid until {}", file.string(), day)};
    return CheckResult{check, State::warning,
                       fmt::format("the certificate in {} {} on {}", file.string(), end > now ? "ends" : "ended", day),
                       "restart the apps and MCP servers that use `secrets`: the next program to start gets a new one"};
  } catch (const std::exception& error) {
    const bool unreadable = S_ISREG(status.st_mode) && (status.st_mode & S_IRUSR) == 0;
    return CheckResult{check, State::failure, error.what(),
                       unreadable ? "chmod 600 " + shell_quoted(file.string()) : obstruction_remedy(file)};
  }
}

/// Reports the size of the data for undoing changes of files.
std::optional<CheckResult> check_checkpoints(const fs::path& directory) {
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
    std::error_code vanished;
    const auto size = each->file_size(vanished);
    if (vanished) continue;
    bytes += size;
    ++files;
  }
  if (error) return std::nullopt;
  return CheckResult{"checkpoints", State::good,
                     fmt::format("{} ({} MiB) to undo changes of files", count_text(files, "file", "files"),
                                 (bytes + (std::uintmax_t{1} << 20) - 1) >> 20)};
}

}  // namespace

bool is_closed_to_us(const DoctorContext& context) {
  if (foreign_file(context.directory.path)) return true;
  const auto status = status_of(context.directory.path);
  return status && S_ISDIR(status->st_mode) && !can_be_entered(context.directory.path, *status);
}

CheckResults check_files(const DoctorContext& context) {
  CheckResults results{check_directory(context)};
  const auto& directory = context.directory.path;
  if (is_closed_to_us(context) || !fs::is_directory(directory)) return results;
  results.push_back(check_token(directory));
  if (auto secrets = check_secrets(directory)) results.push_back(*std::move(secrets));
  if (auto authority = check_authority(directory / data_files::authority)) results.push_back(*std::move(authority));
  if (const auto own = own_directory_of(context)) {
    if (auto kept = check_checkpoints(*own / data_files::checkpoints)) results.push_back(*std::move(kept));
  }
  return results;
}

CheckResults check_configuration(DoctorContext& context) {
  SettingsSources sources;
  sources.file = context.directory.path / data_files::configuration;
  try {
    context.settings = load_settings(sources);
  } catch (const StartError& error) {
    const auto remedy = fs::is_directory(sources.file)
                            ? obstruction_remedy(sources.file)
                            : "fix what it names; the comments in config.yaml explain each key";
    return {{"configuration", State::failure, error.what(), remedy}};
  }
  return {{"configuration", State::good,
           fs::exists(sources.file) ? sources.file.string() : std::string("no file: the defaults apply")}};
}

CheckResults check_database(const DoctorContext& context) {
  if (context.settings && !context.settings->cluster.database.empty()) return check_database_server(context);
  const auto file = context.directory.database();
  std::error_code missing;
  // A dangling symlink counts as existing.
  if (!fs::exists(fs::symlink_status(file, missing))) return {{"database", State::skipped, "not created yet"}};
  const auto status = status_of(file);
  if (!status || !S_ISREG(status->st_mode)) {
    return {{"database", State::failure, fmt::format("{} is no file", file.string()), obstruction_remedy(file)}};
  }
  if (status->st_size == 0) return {{"database", State::skipped, "it is empty: the next start fills it"}};
  if (!is_writable(file, *status)) return {not_writable("database", file, "u+rw")};
  // SQLite needs some space beside the file, and would say no more than that it cannot be read.
  if (is_on_full_disk(context.directory.path))
    return {{"database", State::skipped, "not checked, because the disk is full"}};
  const auto problem = database_problem(file);
  if (!problem) return {{"database", State::good, fmt::format("{} is intact", file.string())}};
  return {
      {"database", State::failure, problem->of(file),
       fmt::format("{}stop the gateway and restore a backup: agw restore <file>; {} has copies made before upgrades",
                   problem->is_schema_newer ? "install the newer agw again, or " : "",
                   context.directory.backups().string())}};
}

}  // namespace agw::cli
