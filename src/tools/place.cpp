#include "tools/place.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/error.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// Returns the components of `path` below `root`, none for the root itself; nullopt if the path is not beneath it.
std::optional<std::vector<std::string>> names_below(const fs::path& root, const fs::path& path) {
  auto here = path.begin();
  for (const auto& part : root) {
    if (part.empty()) continue;
    if (here == path.end() || *here != part) return std::nullopt;
    ++here;
  }
  std::vector<std::string> names;
  for (; here != path.end(); ++here) {
    if (!here->empty()) names.push_back(here->string());
  }
  return names;
}

bool begins_with(const std::vector<std::string>& names, std::initializer_list<std::string_view> beginning) {
  return names.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), names.begin());
}

/// The place of a file in the data directory.
FilePlace place_in_data(const std::vector<std::string>& names, const std::string& agent) {
  if (begins_with(names, {"knowledge"}) || begins_with(names, {"skills"})) return FilePlace::library;
  if (!begins_with(names, {"agents", agent})) return FilePlace::never;
  if (begins_with(names, {"agents", agent, "workspace"})) return FilePlace::workspace;
  if (names.size() == 3 && names[2] == "soul.md") return FilePlace::own_soul;
  return FilePlace::own_directory;
}

FilePlace guarded_or(FilePlace place, const std::vector<std::string>& names) {
  return is_readable(place) && is_guarded(names) ? FilePlace::guarded : place;
}

}  // namespace

void make_workspace(const FileRoots& roots) {
  std::error_code failed;
  fs::create_directories(roots.workspace(), failed);
  if (failed) throw BadRequest(fmt::format("cannot make {}: {}", roots.workspace().string(), failed.message()));
}

FilePlace place_of(const fs::path& path, const FileRoots& roots) {
  if (is_private_path(path)) return FilePlace::never;
  if (const auto names = names_below(roots.data_directory, path)) {
    return guarded_or(place_in_data(*names, roots.agent), *names);
  }
  if (roots.project) {
    if (const auto names = names_below(*roots.project, path)) return guarded_or(FilePlace::project, *names);
  }
  const auto names = names_below(roots.home, path);
  if (!names) return FilePlace::outside;
  const bool is_hidden = std::ranges::any_of(*names, [](const auto& name) { return name.starts_with('.'); });
  return is_hidden ? FilePlace::hidden : FilePlace::home;
}

bool is_readable(FilePlace place) {
  switch (place) {
    case FilePlace::project:
    case FilePlace::workspace:
    case FilePlace::own_soul:
    case FilePlace::own_directory:
    case FilePlace::library:
    case FilePlace::home:
    case FilePlace::guarded:
      return true;
    case FilePlace::hidden:
    case FilePlace::outside:
    case FilePlace::never:
      return false;
  }
  return false;
}

}  // namespace agw
