#include "features/filesystem/home.hpp"

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "io/files/resolve_path.hpp"

namespace agw {

namespace fs = std::filesystem;

Home::Home(fs::path path) : path_(std::move(path)), directory_(Directory::open(path_, Symlinks::refuse).value()) {}

fs::path Home::require_directory(const std::optional<std::string>& path, const AllowedPlace& allowed) const {
  AGW_DEBUG_ASSERT(may_block());

  if (!path) return path_;
  auto resolved = path->starts_with('/') ? resolve_path(*path) : fs::path();
  if (!is_within(resolved, path_) || (allowed && !allowed(resolved))) throw path_outside_home();
  const auto status = directory_.status(below(resolved));
  if (status.has_error() && status.error() == FileError::permission) throw permission_denied();
  if (!status) throw path_not_found();
  if (status->type != FileType::directory) throw BadRequest("path is not a directory");
  return resolved;
}

std::optional<bool> Home::link_is_directory(const fs::path& link) const {
  const auto target = resolve_path(link);
  if (!is_within(target, path_)) return std::nullopt;
  const auto status = directory_.status(below(target));
  return status ? std::optional(status->type == FileType::directory) : std::nullopt;
}

std::string Home::below(const fs::path& path) const { return path.lexically_relative(path_).string(); }

}  // namespace agw
