#include "features/projects/trusted_files.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/json/json.hpp"
#include "base/text/unified_diff.hpp"
#include "base/text/utf8.hpp"
#include "io/files/directory.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view agents_directory = ".agents";
constexpr std::size_t max_entries = 5'000;
constexpr std::size_t max_file = std::size_t{4} * 1024 * 1024;
constexpr std::size_t max_all = std::size_t{64} * 1024 * 1024;
constexpr std::size_t max_kept_text = std::size_t{64} * 1024;
constexpr std::size_t max_kept_texts = std::size_t{1024} * 1024;
constexpr std::size_t max_diff = std::size_t{16} * 1024;
constexpr int max_depth = 12;
static_assert(max_kept_text <= max_kept_texts);
static_assert(max_file <= max_all);

/// Reads files of a project, up to the limits.
class Reading {
public:
  void add_file(const Directory& root, const std::string& path, const std::string& name) {
    AGW_ASSERT(read_ <= max_all);
    AGW_ASSERT(kept_ <= max_kept_texts);
    const auto content = root.read(path, std::min(max_file, max_all - read_));
    if (!content) {
      if (content.error() == FileError::too_large) fail(fmt::format("{} is too large (4 MiB, 64 MiB in all)", name));
      if (content.error() != FileError::not_found) add(name, std::string(to_string(content.error())), std::nullopt);
      return;
    }
    read_ += content->size();
    AGW_ASSERT(read_ <= max_all);
    const bool is_kept =
        is_text(*content) && content->size() <= max_kept_text && kept_ + content->size() <= max_kept_texts;
    if (is_kept) kept_ += content->size();
    add(name, to_hex(sha256(*content)), is_kept ? std::optional(*content) : std::nullopt);
  }

  void add_directory(const Directory& root, const std::string& path, int depth) {
    if (depth > max_depth) return fail(fmt::format("{} is more than {} levels deep", path, max_depth));
    const auto entries = root.list(path, max_entries);
    if (!entries) {
      if (entries.error() == FileError::too_large) fail(fmt::format("{} has more than 5,000 files", path));
      if (entries.error() != FileError::not_found)
        add(path + "/", std::string(to_string(entries.error())), std::nullopt);
      return;
    }
    for (const auto& entry : *entries) {
      if (!found_.problem.empty()) return;
      const auto here = path + "/" + entry.name;
      const auto status = root.status(here);
      if (status && status->type == FileType::directory) {
        add_directory(root, here, depth + 1);
      } else {
        add_file(root, here, here);
      }
    }
  }

  TrustedFiles take() { return std::move(found_); }

private:
  void fail(const std::string& problem) {
    if (found_.problem.empty()) found_.problem = to_utf8(problem);
  }

  void add(const std::string& name, std::string digest, std::optional<std::string> text) {
    if (found_.files.size() >= max_entries) return fail(fmt::format("{} has more than 5,000 files", agents_directory));
    // It could not be stored, and different names would become the same.
    if (!is_utf8(name)) return fail(name + " has a name that is not UTF-8");
    found_.files.insert_or_assign(name, TrustedFile{std::move(digest), std::move(text)});
    AGW_ASSERT(found_.files.size() <= max_entries);
  }

  TrustedFiles found_;
  std::size_t read_ = 0;
  std::size_t kept_ = 0;
};

bool has_agents_md(const fs::path& directory) {
  const auto opened = Directory::open(directory);
  return opened && opened->file("AGENTS.md").has_value();
}

std::string change_of(const std::string& path, const TrustedFile* before, const TrustedFile* after) {
  const bool has_texts = (!before || before->text) && (!after || after->text);
  if (!has_texts) {
    return fmt::format("{} {}\n", path, !before ? "was added" : !after ? "was removed" : "has another content");
  }
  const auto diff = unified_diff(before ? *before->text : "", after ? *after->text : "", before ? path : "/dev/null",
                                 after ? path : "/dev/null");
  return diff.empty() ? path + (before ? " was removed\n" : " was added\n") : diff;
}

}  // namespace

std::string TrustedFiles::digest() const {
  std::string all;
  for (const auto& [path, file] : files) all.append(path).append(1, '\0').append(file.digest).append(1, '\n');
  return to_hex(sha256(all));
}

TrustedFiles read_trusted_files(const fs::path& project, const fs::path& home) {
  Reading reading;
  if (const auto root = Directory::open(project)) reading.add_directory(*root, std::string(agents_directory), 1);
  if (const auto directory = directory_of_instructions(project, home, has_agents_md)) {
    if (const auto opened = Directory::open(*directory)) {
      const auto name = *directory == project ? "AGENTS.md" : (*directory / "AGENTS.md").string();
      reading.add_file(*opened, "AGENTS.md", name);
    }
  }
  return reading.take();
}

std::string diff_of(const TrustedFiles& before, const TrustedFiles& after) {
  std::set<std::string> paths;
  for (const auto& [path, file] : before.files) paths.insert(path);
  for (const auto& [path, file] : after.files) paths.insert(path);
  std::string diff;
  for (const auto& path : paths) {
    const auto old = before.files.find(path);
    const auto now = after.files.find(path);
    const auto* const was = old == before.files.end() ? nullptr : &old->second;
    const auto* const is = now == after.files.end() ? nullptr : &now->second;
    if (was && is && was->digest == is->digest) continue;
    diff += change_of(path, was, is);
    if (diff.size() > max_diff) return shortened(diff, max_diff);
  }
  return diff;
}

}  // namespace agw
