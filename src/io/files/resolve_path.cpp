#include "io/files/resolve_path.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/async/assert.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// The kernel's limit. A further link stays unresolved, and opening it fails.
constexpr int max_links = 40;

/// Pushes the components of `path` on `stack`, the first on top.
void push_parts(std::vector<fs::path>& stack, const fs::path& path) {
  const auto before = stack.size();
  for (const auto& part : path.relative_path()) stack.push_back(part);
  std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(before), stack.end());
}

}  // namespace

fs::path resolve_path(const fs::path& path) {
  AGW_DEBUG_ASSERT(may_block());

  return resolve_path(path, [](const fs::path&) {});
}

fs::path resolve_path(const fs::path& path, const std::function<void(const fs::path&)>& passed) {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<fs::path> ahead;
  push_parts(ahead, path);
  fs::path reached = "/";
  for (int links = 0; !ahead.empty();) {
    const auto part = std::move(ahead.back());
    ahead.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      reached = reached.parent_path();
      continue;
    }
    std::error_code no_link;
    const auto target = links < max_links ? fs::read_symlink(reached / part, no_link) : fs::path();
    if (target.empty()) {
      reached /= part;
      continue;
    }
    ++links;
    passed(reached / part);
    AGW_ASSERT(links <= max_links);
    if (target.is_absolute()) reached = "/";
    push_parts(ahead, target);
  }
  AGW_ASSERT(reached.is_absolute());
  return reached;
}

}  // namespace agw
