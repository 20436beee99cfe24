#include "features/apps/app_directory.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/text/is_within.hpp"
#include "io/process/process.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 12> system_directories{"/bin",  "/boot", "/dev",  "/etc", "/lib", "/lib64",
                                                              "/proc", "/run",  "/sbin", "/sys", "/usr", "/var"};

bool is_system_path(const fs::path& path) {
  return std::ranges::any_of(system_directories, [&](std::string_view system) { return is_within(path, system); });
}

bool may_be_served(const fs::path& path, const fs::path& home, const fs::path& data_directory) {
  if (is_private_path(path) || path == home || path == data_directory) return false;
  if (is_within(data_directory, path)) return false;
  if (is_within(path, data_directory)) return is_within(path, data_directory / "agents");
  if (is_within(path, home)) return !has_hidden_part(path.lexically_relative(home));
  return !is_within(home, path) && !is_system_path(path);
}

}  // namespace

fs::path app_directory(const fs::path& path, const fs::path& home, const fs::path& data_directory) {
  AGW_DEBUG_ASSERT(may_block());

  std::error_code error;
  const auto real = fs::canonical(path, error);
  if (error) throw ProcessError(fmt::format("{}: {}", path.string(), error.message()));
  if (!fs::is_directory(real, error)) throw ProcessError(fmt::format("{} is not a directory", path.string()));
  if (!may_be_served(real, home, data_directory)) {
    throw ProcessError(
        fmt::format("{} is no place for an app: it must be neither hidden, nor the system's, nor around home "
                    "or among the gateway's own files",
                    path.string()));
  }
  return real;
}

}  // namespace agw
