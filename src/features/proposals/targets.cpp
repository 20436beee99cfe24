#include "features/proposals/targets.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/data_files.hpp"
#include "features/extensions/service.hpp"
#include "io/files/resolve_path.hpp"
#include "io/files/update_file.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr mode_t private_file = 0600;
constexpr mode_t shared_file = 0644;

// Parts of the data directory that are reserved for the gateway and the person.

/// Also matched as prefixes: the database's log, a file that is being replaced.
constexpr std::array<std::string_view, 7> own_files{
    data_files::token,  data_files::database, data_files::lock,     data_files::configuration,
    data_files::prices, data_files::secrets,  data_files::authority};
constexpr std::array<std::string_view, 7> own_directories{
    "autoresearch", "trash", "backups", "logs", "attachments", data_files::checkpoints, data_files::nodes};
/// Names that the gateway reads as files: a proposal must not create directories with these names.
constexpr std::array<std::string_view, 5> file_names{"soul.md", "user-profile.md", "agent.yaml", "job.yaml",
                                                     "prompt.md"};

bool is_gateways_own(const fs::path& relative) {
  const auto first = relative.begin()->string();
  return contains(own_directories, first) ||
         std::ranges::any_of(own_files, [&](auto name) { return first.starts_with(name); });
}

bool is_beneath_a_file(const fs::path& relative) {
  return std::ranges::any_of(relative.parent_path(),
                             [](const fs::path& part) { return contains(file_names, part.string()); });
}

/// Files there could make other programs execute code, or grant access to other machines.
bool is_closed(const fs::path& relative) { return is_private_path(relative) || contains(relative, ".git"); }

bool is_name_of_directory(const std::string& target) {
  const auto last = fs::path(target).filename();
  return last.empty() || last == "." || last == "..";
}

std::optional<fs::path> beneath(const fs::path& path, const fs::path& root) {
  AGW_ASSERT(path.is_absolute());
  if (path == root || !is_within(path, root)) return std::nullopt;
  return path.lexically_relative(root);
}

[[noreturn]] void fail(const TargetPlace& place, FileError error) {
  const std::string why(to_string(error));
  if (error == FileError::permission) {
    throw std::system_error(std::make_error_code(std::errc::permission_denied), place.path().string());
  }
  fail_validation({{"target", why}});
}

mode_t mode_of(const Directory& root, const TargetPlace& place) {
  const auto status = root.status(place.relative);
  if (status) return status->mode;
  return place.in_data_directory ? private_file : shared_file;
}

/// Accepts a regular file, or no file.
void check_file(const Directory& root, const TargetPlace& place) {
  const auto status = root.status(place.relative);
  if (!status && status.error() != FileError::not_found) fail(place, status.error());
  if (status && status->type != FileType::regular) fail(place, FileError::not_regular);
}

}  // namespace

std::optional<TargetPlace> find_target(const std::string& target, const TargetRoots& roots) {
  AGW_DEBUG_ASSERT(may_block());

  if (target.empty() || target.find('\0') != target.npos) return std::nullopt;
  // A symlink may lead anywhere, so only the resolved path counts.
  const auto path = resolve_path(roots.data_directory / target);
  const bool names_directory = is_name_of_directory(target);
  if (const auto relative = beneath(path, roots.data_directory)) {
    if (is_gateways_own(*relative) || is_closed(*relative) || is_beneath_a_file(*relative)) return std::nullopt;
    return TargetPlace{.root = roots.data_directory,
                       .relative = relative->string(),
                       .in_data_directory = true,
                       .names_directory = names_directory};
  }
  for (const auto& project : roots.projects) {
    const auto relative = beneath(path, project);
    if (relative && !is_closed(*relative))
      return TargetPlace{.root = project, .relative = relative->string(), .names_directory = names_directory};
  }
  return std::nullopt;
}

FileResult<std::string> read_target(const TargetPlace& place, std::size_t limit) {
  AGW_DEBUG_ASSERT(may_block());

  const auto root = Directory::open(place.root, Symlinks::refuse);
  if (!root) return root.error();
  return root->read(place.relative, limit);
}

std::optional<Timestamp> target_changed_at(const TargetPlace& place) {
  AGW_DEBUG_ASSERT(may_block());

  const auto root = Directory::open(place.root, Symlinks::refuse);
  if (!root) return std::nullopt;
  const auto status = root->status(place.relative);
  return status ? std::optional(status->modified_at) : std::nullopt;
}

void check_target(const TargetPlace& place) {
  AGW_DEBUG_ASSERT(may_block());

  const auto root = Directory::open(place.root, Symlinks::refuse);
  if (!root) fail(place, root.error());
  fs::path directory;
  for (const auto& part : fs::path(place.relative).parent_path()) {
    directory /= part;
    const auto status = root->status(directory.string());
    // `write_target` creates missing directories.
    if (!status && status.error() == FileError::not_found) return;
    if (!status) fail(place, status.error());
    if (status->type != FileType::directory) fail(place, FileError::not_directory);
  }
  check_file(*root, place);
}

void write_target(const TargetPlace& place, const std::string& content) {
  AGW_DEBUG_ASSERT(may_block());

  const auto root = Directory::open(place.root, Symlinks::refuse);
  if (!root) fail(place, root.error());
  AGW_ASSERT(!place.relative.empty());
  AGW_ASSERT(fs::path(place.relative).is_relative());
  AGW_ASSERT(!is_closed(place.relative));
  AGW_ASSERT(!place.in_data_directory || !is_gateways_own(place.relative));
  const auto directory = fs::path(place.relative).parent_path().string();
  if (!directory.empty()) {
    const auto made = root->make_directories(directory, place.in_data_directory ? 0700 : 0755);
    if (!made) fail(place, made.error());
  }
  check_file(*root, place);
  const auto written = replace_unchanged_file(*root, place.relative, content, mode_of(*root, place));
  if (!written) fail(place, written.error());
  if (!*written) throw Conflict("changed meanwhile");
}

std::optional<TargetExtension> extension_of_target(const TargetPlace& place) {
  if (!place.in_data_directory) return std::nullopt;
  const fs::path relative(place.relative);
  const std::vector<std::string> parts(relative.begin(), relative.end());
  if (parts.size() == 3 && parts[0] == "agents" && parts[2] == "agent.yaml") {
    return TargetExtension{ExtensionType::agent, parts[1]};
  }
  if (parts.size() == 3 && parts[0] == "jobs" && parts[2] == "job.yaml") {
    return TargetExtension{ExtensionType::job, parts[1]};
  }
  if (parts.size() == 2 && parts[0] == "extensions" && relative.extension() == ".yaml") {
    return TargetExtension{std::nullopt, relative.stem().string()};
  }
  return std::nullopt;
}

}  // namespace agw
