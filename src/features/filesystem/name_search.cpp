#include "features/filesystem/name_search.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr int levels = 3;
constexpr std::size_t max_results = 15;
constexpr std::size_t entries_per_clock_check = 64;
/// No name has more bytes, and a pattern of this length compiles fast.
constexpr std::size_t max_part_length = 1024;

RE2::Options options() {
  RE2::Options options;
  options.set_literal(true);
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  return options;
}

bool is_skipped(std::string_view name) { return name.starts_with('.') || name == "node_modules" || !is_utf8(name); }

std::string joined(const std::string& directory, const std::string& name) {
  return directory == "." ? name : directory + '/' + name;
}

}  // namespace

NameSearch::NameSearch(const Home& home, std::string_view part, SearchBudget budget)
    : home_(home),
      pattern_(re2::StringPiece(part.data(), std::min(part.size(), max_part_length)), options()),
      ascii_part_(is_ascii(part) ? std::optional(ascii_lower_case(part)) : std::nullopt),
      budget_(budget),
      deadline_(std::chrono::steady_clock::now() + budget.time) {}

FileResult<std::vector<FileEntry>> NameSearch::run(const fs::path& root) {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<FileEntry> results;
  std::vector<std::string> level{home_.below(root)};
  for (int depth = 1; depth <= levels && results.size() < max_results && !spent_; ++depth) {
    for (const auto& directory : level) {
      if (spent_) break;
      const auto looked = search_directory(directory, depth == levels);
      if (!looked && depth == 1) return looked.error();
    }
    take_found(results);
    level = std::exchange(next_level_, {});
  }
  return results;
}

FileResult<void> NameSearch::search_directory(const std::string& directory, bool last_level) {
  return home_.directory().visit(directory, [&](const DirectoryEntry& entry) {
    if (!is_skipped(entry.name)) match(directory, entry, last_level);
    return !spent();
  });
}

void NameSearch::match(const std::string& directory, const DirectoryEntry& entry, bool last_level) {
  const bool matches = contains_part(entry.name);
  const bool leads_on = entry.type == FileType::directory && !last_level;
  if (matches) found_.push_back({joined(directory, entry.name), entry.type});
  if (leads_on) next_level_.push_back(joined(directory, entry.name));
}

// RE2 took a third of the time of a search, although most names need no Unicode.
bool NameSearch::contains_part(const std::string& name) const {
  if (ascii_part_ && is_ascii(name)) return ascii_lower_case(name).find(*ascii_part_) != std::string::npos;
  return RE2::PartialMatch(name, pattern_);
}

void NameSearch::take_found(std::vector<FileEntry>& results) {
  std::ranges::sort(found_, {}, &DirectoryEntry::name);
  for (const auto& found : found_) {
    if (results.size() == max_results) break;
    const auto path = home_.path() / found.name;
    const auto is_directory = found.type == FileType::symlink ? home_.link_is_directory(path)
                                                              : std::optional(found.type == FileType::directory);
    if (is_directory) results.push_back({path.filename().string(), to_utf8(path.string()), *is_directory});
  }
  found_.clear();
}

bool NameSearch::spent() {
  ++seen_;
  if (seen_ >= budget_.entries && seen_ % entries_per_clock_check == 0) {
    spent_ = std::chrono::steady_clock::now() >= deadline_;
  }
  return spent_;
}

}  // namespace agw
