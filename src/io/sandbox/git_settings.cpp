#include "io/sandbox/git_settings.hpp"

#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/async/assert.hpp"
#include "base/text/is_within.hpp"
#include "io/files/directory.hpp"
#include "io/files/resolve_path.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_config_length = 1 << 20;
constexpr auto for_each_worktree = "worktreeconfig";

/// The content of a file; empty if it cannot be read.
std::string text_in(const fs::path& directory, const char* name) {
  const auto opened = Directory::open(directory);
  const auto read = opened ? opened->read(name, max_config_length) : opened.error();
  return read ? *read : std::string();
}

}  // namespace

GitSettings::GitSettings(fs::path repository)
    : repository_(std::move(repository)), text_(text_in(repository_, "config")) {
  RE2::GlobalReplace(&text_, R"((?i)\b(bare|worktreeconfig)\s*=\s*(false|no|off|0)\b)", "");
}

bool GitSettings::has(std::string_view name) const {
  return RE2::PartialMatch(text_, fmt::format(R"((?im)(^|\])\s*{}\s*($|[=;#]))", name));
}

bool GitSettings::tolerates_commondir(const fs::path& root, bool is_submodule) const {
  AGW_DEBUG_ASSERT(may_block());

  if (has(for_each_worktree)) return true;
  if (has("worktree") && !is_submodule) return false;
  return !has("bare") || !is_found_from_above(root);
}

/// Whether Git finds the repository from a directory above it in `root`, by the name `.git`.
bool GitSettings::is_found_from_above(const fs::path& root) const {
  // Otherwise the loop would not end.
  AGW_ASSERT(is_within(repository_, root));
  if (repository_.filename() == ".git") return true;
  for (auto above = repository_; above != root;) {
    above = above.parent_path();
    std::string target;
    const auto leads_elsewhere = text_in(above, ".git");
    if (RE2::PartialMatch(leads_elsewhere, "^gitdir: ([^\n]*)", &target) &&
        resolve_path(above / target) == repository_) {
      return true;
    }
  }
  return false;
}

std::vector<fs::path> GitSettings::configurations_of_worktrees() const {
  AGW_DEBUG_ASSERT(may_block());

  if (!has(for_each_worktree)) return {};
  std::vector<fs::path> found{repository_ / "config.worktree"};
  const auto worktrees = repository_ / "worktrees";
  std::error_code none;
  if (fs::is_symlink(worktrees, none)) return found;
  for (const auto& each : fs::directory_iterator(worktrees, none)) {
    if (fs::is_directory(each.symlink_status())) found.push_back(each.path() / "config.worktree");
  }
  return found;
}

}  // namespace agw
