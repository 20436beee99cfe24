#include "features/checkpoints/changes_view.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/text/unified_diff.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// Maximum total size of a run's diffs in bytes. Further files are listed without a diff.
constexpr std::size_t max_diffs = std::size_t{4} * 1024 * 1024;
constexpr auto no_file = "/dev/null";

/// Consecutive changes of a run to one path, without a change by others in between.
struct Segment {
  StoredState before;
  StoredState after;
};

std::vector<Segment> segments_of(const std::vector<const StoredChange*>& changes) {
  std::vector<Segment> segments;
  for (const auto* const change : changes) {
    if (!segments.empty() && segments.back().after.is_same(change->before))
      segments.back().after = change->after;
    else
      segments.push_back({change->before, change->after});
  }
  AGW_ASSERT(segments.empty() == changes.empty());
  return segments;
}

std::optional<std::string> content_of(const StoredState& state, BlobStore& blobs) {
  if (!state.has_content()) return "";
  return state.hash ? blobs.get(*state.hash) : std::nullopt;
}

bool is_binary(const std::string& content) { return content.find('\0') != content.npos; }

void add_diff(FileChange& shown, const Segment& segment, BlobStore& blobs) {
  if (segment.before.is_same(segment.after)) return;
  const auto before = content_of(segment.before, blobs);
  const auto after = content_of(segment.after, blobs);
  if (!before || !after) return;
  if (is_binary(*before) || is_binary(*after)) {
    shown.is_binary = true;
    return;
  }
  const auto name = [&](const StoredState& state) { return state.has_content() ? shown.path : no_file; };
  shown.diff += unified_diff(to_utf8(*before), to_utf8(*after), name(segment.before), name(segment.after));
}

FileChangeKind kind_of(const StoredState& before, const StoredState& after) {
  AGW_ASSERT(before.kind != EntryKind::absent || after.kind != EntryKind::absent);
  if (before.kind == EntryKind::absent) return FileChangeKind::created;
  return after.kind == EntryKind::absent ? FileChangeKind::deleted : FileChangeKind::changed;
}

std::string type_of(const StoredState& before, const StoredState& after) {
  const auto kind = after.kind == EntryKind::absent ? before.kind : after.kind;
  if (kind == EntryKind::directory) return "directory";
  return kind == EntryKind::symlink ? "symlink" : "file";
}

std::optional<FileChange> shown(const std::vector<const StoredChange*>& changes, BlobStore& blobs, std::size_t room) {
  AGW_ASSERT(!changes.empty());
  const auto segments = segments_of(changes);
  const auto& before = segments.front().before;
  const auto& after = segments.back().after;
  const bool is_same = segments.size() == 1 && before.is_same(after) && before.mode == after.mode;
  if (is_same || (before.kind == EntryKind::absent && after.kind == EntryKind::absent)) return std::nullopt;
  FileChange change{
      .path = to_utf8(changes.front()->path),
      .kind = kind_of(before, after),
      .type = type_of(before, after),
      .undone = std::ranges::all_of(changes, [](const auto* each) { return each->undone_by.has_value(); })};
  if (change.kind == FileChangeKind::changed && before.mode != after.mode) {
    change.mode_before = fmt::format("{:04o}", before.mode);
    change.mode_after = fmt::format("{:04o}", after.mode);
  }
  for (const auto& segment : segments) add_diff(change, segment, blobs);
  if (change.diff.size() > room) change.diff.clear();
  return change;
}

}  // namespace

std::vector<FileChange> shown_changes(const std::vector<StoredChange>& changes, BlobStore& blobs) {
  std::map<std::string, std::vector<const StoredChange*>> by_path;
  for (const auto& change : changes) {
    if (change.kind == StoredChange::Kind::write) by_path[change.path].push_back(&change);
  }
  std::vector<FileChange> all;
  auto room = max_diffs;
  for (const auto& [path, of_path] : by_path) {
    auto change = shown(of_path, blobs, room);
    if (!change) continue;
    AGW_ASSERT(change->diff.size() <= room);
    room -= change->diff.size();
    all.push_back(std::move(*change));
  }
  return all;
}

}  // namespace agw
