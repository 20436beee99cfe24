#include "features/configuration/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/yaml.hpp"
#include "config/edit_yaml.hpp"
#include "config/environment.hpp"
#include "io/files/update_file.hpp"

namespace agw {

namespace fs = std::filesystem;

namespace {

constexpr mode_t mode_of_new_file = 0600;
constexpr mode_t permissions = 07777;

[[noreturn]] void refuse(const std::string& place, std::string_view why) {
  throw Conflict(fmt::format("cannot be changed here: {}; edit {} instead", why, place));
}

/// Returns the permissions of a file that can be replaced without harm.
mode_t check_file(const std::filesystem::path& file) {
  struct stat status{};
  if (::lstat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) return mode_of_new_file;
    refuse(file, std::strerror(errno));
  }
  if (S_ISLNK(status.st_mode)) refuse(file, "the file is a symbolic link");
  if (!S_ISREG(status.st_mode)) refuse(file, "it is not a regular file");
  if (status.st_uid != ::geteuid()) refuse(file, "the file belongs to another user");
  if ((status.st_mode & S_IWUSR) == 0) refuse(file, "the file is read-only");
  if (status.st_nlink > 1) refuse(file, "the file has several names (hard links)");
  return status.st_mode & permissions;
}

std::string with_edits(const std::filesystem::path& file, std::string text, const Edits& edits) {
  for (const auto& [key, value] : edits) {
    try {
      text = with_entry(text, key, value);
    } catch (const NotEditable& error) {
      const auto place = error.line() > 0 ? fmt::format("{}:{}", file.string(), error.line()) : file.string();
      refuse(place, fmt::format("{}: {}", key, error.what()));
    } catch (const ConfigError& error) {
      throw Conflict(fmt::format("{}:{}: {}: {}", file.string(), error.line(), error.key(), error.what()));
    }
  }
  return text;
}

}  // namespace

NextSettings next_settings(const SettingsSources& sources) {
  AGW_DEBUG_ASSERT(may_block());

  NextSettings next;
  try {
    next.settings = load_settings(sources);
    next.file = parse_yaml(read_start_file(sources.file).value_or(""));
  } catch (const StartError& error) {
    next.problem = error.what();
  } catch (const ConfigError& error) {
    next.problem = fmt::format("{}:{}: {}: {}", sources.file.string(), error.line(), error.key(), error.what());
  }
  return next;
}

void edit_configuration(const SettingsSources& sources, const Edits& edits) {
  AGW_DEBUG_ASSERT(may_block());

  const auto mode = check_file(sources.file);
  if (const auto next = next_settings(sources); next.problem) throw Conflict("fix config.yaml first: " + *next.problem);
  const auto directory = Directory::open(fs::absolute(sources.file).parent_path(), Symlinks::refuse);
  if (!directory) refuse(sources.file, to_string(directory.error()));
  const auto edit = [&](const std::string* present) -> std::optional<std::string> {
    const auto before = present ? *present : std::string();
    auto after = with_edits(sources.file, before, edits);
    return after == before ? std::nullopt : std::optional(std::move(after));
  };
  try {
    const auto written = update_file(*directory, sources.file.filename().string(), max_yaml_size, edit, mode);
    if (!written) refuse(sources.file, to_string(written.error()));
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw Conflict("config.yaml was changed meanwhile: try again");
  }
}

}  // namespace agw
