#include "tools/place.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 11> private_names{".ssh",   ".aws",     ".gnupg",          ".netrc",
                                                         ".kube",  ".docker",  ".npmrc",          ".pypirc",
                                                         ".azure", ".mozilla", ".git-credentials"};
constexpr std::array<std::string_view, 2> private_in_config{"gcloud", "google-chrome"};
constexpr std::array<std::string_view, 2> private_endings{".pem", ".key"};
constexpr std::array<std::string_view, 4> private_beginnings{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_private_name(std::string_view name) {
  return contains(private_names, name) || name == ".password-store" ||
         std::ranges::any_of(private_endings, [&](auto ending) { return name.ends_with(ending); }) ||
         std::ranges::any_of(private_beginnings, [&](auto beginning) { return name.starts_with(beginning); });
}

/// The names below `root` on the way to `path`; nothing where it does not lie there. Empty for the root itself.
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

/// Inside of the data directory.
FilePlace place_in_data(const std::vector<std::string>& names, const std::string& agent) {
  if (begins_with(names, {"knowledge"}) || begins_with(names, {"skills"})) return FilePlace::library;
  if (!begins_with(names, {"agents", agent})) return FilePlace::never;
  if (begins_with(names, {"agents", agent, "workspace"})) return FilePlace::workspace;
  if (names.size() == 3 && names[2] == "soul.md") return FilePlace::own_soul;
  return FilePlace::own_directory;
}

/// A repository may lie anywhere in a project or workspace, also as a submodule; what is in these makes other programs
/// execute, and a `.git` that is a file leads to another repository.
bool is_guarded(const std::vector<std::string>& names) {
  if (contains(names, ".agents")) return true;
  const auto git = std::ranges::find(names, ".git");
  if (git == names.end()) return false;
  return git + 1 == names.end() || std::any_of(git, names.end(), [](const std::string& name) {
           return name == "hooks" || name == "config" || name == "config.worktree";
         });
}

FilePlace guarded_or(FilePlace place, const std::vector<std::string>& names) {
  return is_readable(place) && is_guarded(names) ? FilePlace::guarded : place;
}

}  // namespace

bool is_private_path(const fs::path& path) {
  std::string before;
  for (const auto& part : path) {
    auto name = part.string();
    if (is_private_name(name) || (before == ".config" && contains(private_in_config, name))) return true;
    before = std::move(name);
  }
  return false;
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
  const bool behind_dot = std::ranges::any_of(*names, [](const auto& name) { return name.starts_with('.'); });
  return behind_dot ? FilePlace::hidden : FilePlace::home;
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
