#include "io/sandbox/private_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::array<std::string_view, 12> private_names{".ssh",   ".aws",     ".gnupg",           ".netrc",
                                                         ".kube",  ".docker",  ".npmrc",           ".pypirc",
                                                         ".azure", ".mozilla", ".git-credentials", ".password-store"};
constexpr std::array<std::string_view, 2> private_in_config{"gcloud", "google-chrome"};
constexpr std::array<std::string_view, 4> guarded_in_git{"hooks", "config", "config.worktree", "commondir"};
/// The directories of a repository that contain guarded paths.
constexpr std::array<std::string_view, 3> kept_by_git{"hooks", "modules", "worktrees"};
static_assert(unpacked_data_digits > 0);
constexpr std::array repository_marks{"HEAD", "objects", "refs"};
constexpr std::array<std::string_view, 2> private_endings{".pem", ".key"};
constexpr std::array<std::string_view, 4> private_beginnings{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"};

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

}  // namespace

bool is_restore_name(std::string_view name) {
  if (name.find('-') == name.npos) return false;
  if (const auto kept = name.rfind(kept_data_mark); kept != name.npos) {
    const auto time = name.substr(kept + kept_data_mark.size());
    if (!time.empty() && is_digit(time.front())) return true;
  }
  if (name.size() < unpacked_data_mark.size() + unpacked_data_digits) return false;
  const auto digits = name.substr(name.size() - unpacked_data_digits);
  name.remove_suffix(unpacked_data_digits);
  return name.ends_with(unpacked_data_mark) && std::ranges::all_of(digits, is_hex_digit);
}

// Before each command, all names in the project are checked. A comparison of one character is enough for most.
static_assert(std::ranges::all_of(private_names, [](auto name) { return name.starts_with('.'); }));
static_assert(std::ranges::all_of(private_beginnings, [](auto beginning) { return beginning.starts_with('i'); }));
static_assert(kept_data_mark.find('-') != kept_data_mark.npos &&
              unpacked_data_mark.find('-') != unpacked_data_mark.npos);

bool is_private_name(std::string_view parent, std::string_view name) {
  return (name.starts_with('.') && contains(private_names, name)) || is_restore_name(name) ||
         (parent == ".config" && contains(private_in_config, name)) ||
         std::ranges::any_of(private_endings, [&](auto ending) { return name.ends_with(ending); }) ||
         (name.starts_with('i') &&
          std::ranges::any_of(private_beginnings, [&](auto beginning) { return name.starts_with(beginning); }));
}

std::vector<std::string> private_name_patterns() {
  std::vector<std::string> patterns(private_names.begin(), private_names.end());
  for (const auto name : private_in_config) patterns.push_back("**/.config/" + std::string(name));
  for (const auto ending : private_endings) patterns.push_back("*" + std::string(ending));
  for (const auto beginning : private_beginnings) patterns.push_back(std::string(beginning) + "*");
  patterns.push_back("*" + std::string(kept_data_mark) + "[0-9]*");
  std::string unpacked = "*" + std::string(unpacked_data_mark);
  for (std::size_t i = 0; i < unpacked_data_digits; ++i) unpacked += "[0-9a-f]";
  patterns.push_back(std::move(unpacked));
  return patterns;
}

bool is_private_path(const std::filesystem::path& path) {
  std::string before;
  for (const auto& part : path) {
    auto name = part.string();
    if (is_private_name(before, name)) return true;
    before = std::move(name);
  }
  return false;
}

bool is_guarded(const std::vector<std::string>& names) {
  if (contains(names, ".agents")) return true;
  const auto git = std::ranges::find(names, ".git");
  if (git == names.end()) return false;
  if (git + 1 == names.end()) return true;
  // The names in these directories are branch names chosen by people.
  if (git[1] == "refs" || git[1] == "logs") return false;
  return std::any_of(git, names.end(), [](const std::string& name) { return contains(guarded_in_git, name); });
}

bool holds_repository(int directory) {
  AGW_DEBUG_ASSERT(may_block());

  return std::ranges::all_of(
      repository_marks, [&](const char* name) { return ::faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0; });
}

bool GuardedPathTracker::mark_repository() {
  if (is_guarded_ || is_in_repository()) return false;
  if (names_.empty()) names_.emplace_back();
  names_.back() = ".git";
  has_other_name_ = true;
  AGW_ASSERT(is_in_repository());
  return true;
}

void GuardedPathTracker::enter(const std::string& name) {
  AGW_ASSERT(!name.empty());
  AGW_ASSERT(!has_other_name_ || names_.back() == ".git");
  is_guarded_ = is_guarded_ || (name != ".git" && guards(name));
  // The rest of a bare repository is a checkout with names chosen by people.
  if (std::exchange(has_other_name_, false) && !contains(kept_by_git, name)) names_.clear();
  names_.push_back(name);
}

bool GuardedPathTracker::is_in_repository() const { return contains(names_, ".git"); }

bool GuardedPathTracker::guards(const std::string& name) const {
  AGW_ASSERT(!has_other_name_ || is_in_repository());
  if (has_other_name_ && name == ".git") return true;
  auto names = names_;
  names.push_back(name);
  return agw::is_guarded(names);
}

}  // namespace agw
