// Compares the directories with the records, to find edits and missing files.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "features/extensions/directories.hpp"
#include "features/extensions/validation.hpp"

namespace agw {

namespace {

bool is_missing(FileError error) { return error == FileError::not_found; }

/// Whether the prompt in `flat` was read from prompt.md, which then belongs to the record. If the YAML has a prompt,
/// prompt.md belongs to the person.
bool is_from_file(ExtensionType type, const json::object& flat, const FileResult<std::string>& prompt) {
  return owns_prompt(type, flat) && prompt && string_member(flat, "prompt") == std::string_view(*prompt);
}

}  // namespace

json::object ExtensionDirectories::Contents::flat(ExtensionType type, const Extension* record) const {
  if (prompt && !is_utf8(*prompt)) throw YamlError(1, "prompt.md is not UTF-8");
  if (!prompt && !is_missing(prompt.error())) {
    throw YamlError(1, fmt::format("prompt.md is {}", to_string(prompt.error())));
  }
  return flat_members(type, *config, prompt ? std::optional(*prompt) : std::nullopt, record);
}

ExtensionDirectories::Contents ExtensionDirectories::read(ExtensionType type, const std::string& path) const {
  Contents contents{FileError::not_found, FileError::not_found, {}};
  const auto directory = root_.directory(path);
  if (!directory) {
    contents.config = directory.error();
    return contents;
  }
  const auto read_file = [&](const std::string& file, FileResult<std::string>& content, KnownFile& known) {
    AGW_ASSERT(file.starts_with(path + "/"));
    const auto name = file.substr(path.size() + 1);
    if (const auto stamp = directory->stamp(name)) known.stamp = *stamp;
    content = directory->read(name, max_extension_file_length);
    if (content) known.content_id = content_id(*content);
  };
  if (const auto stamp = directory->stamp(".")) contents.known.inode = stamp->inode;
  read_file(config_path(path), contents.config, contents.known.config);
  if (type == ExtensionType::job) read_file(prompt_path(path), contents.prompt, contents.known.prompt);
  return contents;
}

bool ExtensionDirectories::is_unchanged(const std::string& path, const KnownDirectory& known) const {
  // Unlike prompt.md, this file always exists, so an empty stamp means that it must be read.
  return known.config.stamp != FileStamp{} && root_.matches_stamp(config_path(path), known.config.stamp) &&
         (type_of_directory(path) == ExtensionType::agent ||
          root_.matches_stamp(prompt_path(path), known.prompt.stamp));
}

DirectoryFindings ExtensionDirectories::compare(const std::vector<ExtensionPointer>& records, At at) {
  AGW_DEBUG_ASSERT(std::ranges::all_of(records, [](const auto& each) { return each && is_file_backed(each->type); }));
  DirectoryFindings findings;
  findings.done = repeat(std::exchange(failed_, {}));
  for (const auto& step : failed_) {
    const bool is_move = step.action == DiskStep::Action::move;
    findings.warnings.push_back(
        fmt::format("{}: cannot be {}, see the log", step.directory, is_move ? "moved to " + step.target : "written"));
  }
  const auto before = findings.warnings.size();
  for (const auto type : file_backed_types) compare_type(type, records, at, findings);
  std::sort(findings.warnings.begin() + static_cast<std::ptrdiff_t>(before), findings.warnings.end());
  std::ranges::sort(findings.taken, {}, &TakenDirectory::path);
  return findings;
}

DirectoryFindings ExtensionDirectories::edit_of(const ExtensionPointer& record) {
  AGW_ASSERT(record);
  DirectoryFindings findings;
  const bool has_failed =
      std::ranges::any_of(failed_, [&](const DiskStep& step) { return step.extension_id == record->id; });
  const auto path = directory_of(record->type, record->name);
  if (has_failed || is_to_be_moved(path)) return findings;
  compare_record(record, path, At::contents, findings);
  findings.missing.clear();
  return findings;
}

void ExtensionDirectories::compare_type(ExtensionType type, const std::vector<ExtensionPointer>& records, At at,
                                        DirectoryFindings& findings) {
  RecordsByName left;
  for (const auto& record : records) {
    if (record->type == type) left.emplace(record->name, record);
  }
  // Not a sorted list: sorting ten thousand names takes a tenth of the start. The few findings are sorted instead.
  const auto visited = root_.visit(directories_of(type), [&](const DirectoryEntry& entry) {
    compare_entry(type, entry, records, left, at, findings);
    return true;
  });
  if (!visited && !is_missing(visited.error())) {
    findings.warnings.push_back(fmt::format("{}: {}", directories_of(type), to_string(visited.error())));
    return;
  }
  for (const auto& [name, record] : left) findings.missing.push_back(record);
}

/// Compares an entry of the type's directory, and removes its record from `left`.
void ExtensionDirectories::compare_entry(ExtensionType type, const DirectoryEntry& entry,
                                         const std::vector<ExtensionPointer>& records, RecordsByName& left, At at,
                                         DirectoryFindings& findings) {
  const auto path = directory_of(type, entry.name);
  const auto found = left.find(entry.name);
  const auto record = found == left.end() ? nullptr : found->second;
  if (record) left.erase(found);
  if (is_to_be_moved(path)) return;
  if (entry.type != FileType::directory && entry.type != FileType::symlink) {
    if (record) findings.warnings.push_back(fmt::format("{}: {}", path, to_string(FileError::not_directory)));
  } else if (record) {
    compare_record(record, path, at, findings);
  } else {
    inspect_new(type, entry.name, records, findings);
  }
}

/// `path` is that of the record's directory.
void ExtensionDirectories::compare_record(const ExtensionPointer& record, const std::string& path, At at,
                                          DirectoryFindings& findings) {
  AGW_ASSERT(is_file_backed(record->type));
  auto& known = known_[record->id];
  if (at == At::contents || !is_unchanged(path, known)) {
    auto contents = read(record->type, path);
    if (!contents.config && is_missing(contents.config.error())) return findings.missing.push_back(record);
    const bool owns = owns_prompt(record->type, record->definition.members());
    if (!owns) contents.known.prompt.content_id.clear();
    const bool same = contents.config && contents.known.config.content_id == known.config.content_id &&
                      (!owns || contents.known.prompt.content_id == known.prompt.content_id);
    if (!same && has_lost_prompt(*record, contents, known)) return findings.missing.push_back(record);
    if (!same) return compare_edit(record, path, contents, findings);
    if (contents.known != known) accept(record->id, path, contents.known);
  }
  // A new version of the gateway may ship a changed record.
  if (record->source == Source::built_in && content_id(text_of(*record).config) != known.config.content_id) {
    findings.missing.push_back(record);
  }
}

/// Whether prompt.md is missing and nothing else has changed.
bool ExtensionDirectories::has_lost_prompt(const Extension& record, const Contents& contents,
                                           const KnownDirectory& known) {
  if (known.prompt.content_id.empty() || contents.prompt || !is_missing(contents.prompt.error())) return false;
  const auto text = text_of(record);
  return text.prompt && contents.known.config.content_id == content_id(text.config);
}

void ExtensionDirectories::compare_edit(const ExtensionPointer& record, const std::string& path,
                                        const Contents& contents, DirectoryFindings& findings) {
  with_warnings(path, contents, findings, [&] {
    const auto flat = contents.flat(record->type, record.get());
    auto known = contents.known;
    if (!is_from_file(record->type, flat, contents.prompt)) known.prompt.content_id.clear();
    const auto body = change_body(flat, *record, MissingTrigger::goes);
    findings.taken.push_back({record, record->id, path, read_extension_change(body, record->type), known});
  });
}

void ExtensionDirectories::inspect_new(ExtensionType type, const std::string& name,
                                       const std::vector<ExtensionPointer>& records, DirectoryFindings& findings) {
  const auto path = directory_of(type, name);
  const auto contents = read(type, path);
  if (const auto why = why_not_new(contents.known.inode, records); !why.empty())
    return findings.warnings.push_back(fmt::format("{}: {}", path, why));
  if (!contents.config && is_missing(contents.config.error())) return;
  with_warnings(path, contents, findings, [&] {
    const auto flat = contents.flat(type, nullptr);
    auto known = contents.known;
    if (!is_from_file(type, flat, contents.prompt)) known.prompt.content_id.clear();
    findings.taken.push_back({nullptr, new_id(), path, read_new_extension(new_body(flat, type, name)), known});
  });
}

/// Why the directory with this inode (0 if it cannot be opened, as a link to nothing) is no new extension's; empty if
/// it may be. A record's directory that a person renamed is new, as the record gets another one.
std::string ExtensionDirectories::why_not_new(std::uint64_t inode, const std::vector<ExtensionPointer>& records) const {
  const auto known = std::ranges::find(known_, inode, [](const auto& each) { return each.second.inode; });
  if (inode == 0 || known == known_.end()) return "";
  const auto record =
      std::ranges::find(records, known->first, [](const auto& each) { return std::string_view(each->id); });
  if (record == records.end()) return "its record was deleted while this node was away: move the directory away";
  const auto path = directory_of((*record)->type, (*record)->name);
  const auto stamp = root_.stamp(path);
  return stamp && stamp->inode == inode ? fmt::format("a link to {}", path) : "";
}

void ExtensionDirectories::with_warnings(const std::string& path, const Contents& contents, DirectoryFindings& findings,
                                         const std::function<void()>& take) {
  const auto warn = [&](std::string_view why) {
    findings.warnings.push_back(to_utf8(fmt::format("{}: {}", config_path(path), why)));
  };
  if (!contents.config) return warn(to_string(contents.config.error()));
  try {
    take();
  } catch (const ApiError& error) {
    warn(text_with_details(in_terms_of_file(error)));
  } catch (const YamlError& error) {
    warn(error.what());
  }
}

}  // namespace agw
