#include "features/proposals/files.hpp"

#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/yaml.hpp"
#include "base/log.hpp"
#include "io/files/update_file.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto proposals_path = "autoresearch/proposals";
constexpr std::string_view ending = ".md";
/// A head must end within this many bytes.
constexpr std::size_t max_head_length = 64 << 10;
constexpr std::size_t max_listed_entries = 100'000;
/// The resolution of file times is a few milliseconds: a second change within that time may leave the stamp unchanged.
constexpr auto time_to_settle = 100ms;

/// The segments contain no `/` and no dots, so the path stays below the directory.
std::string path_of(const ProposalAddress& address) {
  AGW_ASSERT(is_proposal_segment(address.agent));
  AGW_ASSERT(is_proposal_segment(address.date));
  AGW_ASSERT(!address.name || is_proposal_segment(*address.name));
  return std::string(proposals_path) + "/" + address.text() + std::string(ending);
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

[[noreturn]] void fail(const std::string& path, FileError error) {
  throw std::system_error(std::make_error_code(std::errc::io_error), path + ": " + std::string(to_string(error)));
}

std::chrono::nanoseconds now_of_files() { return std::chrono::system_clock::now().time_since_epoch(); }

bool is_settled(const FileStamp& stamp) {
  return std::chrono::nanoseconds(stamp.changed_ns) + time_to_settle < now_of_files();
}

std::string beginning_of(const Directory& directory, const std::string& file) {
  std::string bytes(max_head_length, '\0');
  const auto opened = directory.file(file);
  if (!opened) return {};
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto got = ::read(opened->get(), bytes.data() + size, bytes.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

ProposalHead head_of(std::string_view beginning, const ProposalAddress& address) {
  const auto part = proposal_head_of(beginning);
  if (!part) return broken_proposal_head("the head has no end: a line `---`", address);
  try {
    return read_proposal_head(read_proposal_text(*part).head, address);
  } catch (const YamlError& error) {
    return broken_proposal_head(error.what(), address);
  }
}

/// `2026-01-02` from `2026-01-02.md`, if it is a valid segment of an address.
std::optional<std::string> segment_of(const DirectoryEntry& entry) {
  std::string_view name = entry.name;
  if (entry.type == FileType::regular && name.ends_with(ending)) {
    name.remove_suffix(ending.size());
  } else if (entry.type != FileType::directory) {
    return std::nullopt;
  }
  return is_proposal_segment(name) ? std::optional<std::string>(name) : std::nullopt;
}

std::vector<DirectoryEntry> entries_of(const Directory& directory, const std::string& what) {
  auto listed = directory.list(".", max_listed_entries);
  if (listed) return std::move(*listed);
  log::warn("the proposals of {} are not listed: {}", what, to_string(listed.error()));
  return {};
}

}  // namespace

ProposalFiles::ProposalFiles(const std::filesystem::path& data_directory)
    : root_(Directory::open(data_directory, Symlinks::refuse).value()), made_at_(now_of_files()) {}

/// The first scan runs in the background after the start. Files written between the start and that scan still count as
/// new.
bool ProposalFiles::is_new(const std::string& reference, const FileStamp& stamp) const {
  if (known_.contains(reference)) return false;
  return has_looked_ || std::chrono::nanoseconds(stamp.changed_ns) >= made_at_;
}

/// Opened each time, because a person may delete and recreate the folder.
std::optional<Directory> ProposalFiles::folder() {
  auto opened = root_.directory(proposals_path);
  if (opened) return std::move(*opened);
  if (opened.error() != FileError::not_found) {
    log::warn("{} cannot be read: {}", proposals_path, to_string(opened.error()));
  }
  return std::nullopt;
}

ProposalFiles::Scan ProposalFiles::scan() {
  AGW_DEBUG_ASSERT(may_block());

  for (auto& [reference, known] : known_) known.was_found = false;
  if (const auto directory = folder()) {
    for (const auto& agent : entries_of(*directory, "all agents")) {
      if (agent.type != FileType::directory || !is_proposal_segment(agent.name)) continue;
      if (const auto opened = directory->directory(agent.name)) scan_directory(*opened, {agent.name, ""});
    }
  }
  has_looked_ = true;
  return take_found();
}

/// Forgets files that the scan did not find, and returns the others.
ProposalFiles::Scan ProposalFiles::take_found() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second.was_found; });
  Scan seen;
  seen.all.reserve(known_.size());
  for (auto& [reference, known] : known_) {
    AGW_ASSERT(known.listed);
    const bool is_news = std::exchange(known.is_new, false) && known.listed->head.status == ProposalStatus::pending;
    if (is_news) seen.appeared.push_back(known.listed->address);
    seen.all.push_back(known.listed);
  }
  return seen;
}

/// Scans an agent's directory or, if `address` has a date, a directory of nested proposals.
void ProposalFiles::scan_directory(const Directory& directory, ProposalAddress address) {
  AGW_ASSERT(!address.name);
  const bool is_nested = !address.date.empty();
  for (const auto& entry : entries_of(directory, address.agent)) {
    const auto segment = segment_of(entry);
    if (!segment) continue;
    if (is_nested)
      address.name = *segment;
    else
      address.date = *segment;
    if (entry.type == FileType::regular) {
      inspect(directory, entry.name, address);
    } else if (!is_nested) {
      if (const auto opened = directory.directory(entry.name)) scan_directory(*opened, address);
    }
  }
}

void ProposalFiles::inspect(const Directory& directory, const std::string& file, const ProposalAddress& address) {
  auto reference = address.text();
  const auto found = known_.find(reference);
  if (found != known_.end() && found->second.is_settled && directory.matches_stamp(file, found->second.stamp)) {
    found->second.was_found = true;
    return;
  }
  const auto stamp = directory.stamp(file);
  if (!stamp) return;
  const auto written_at = modified_at(*stamp);
  auto head = head_of(beginning_of(directory, file), address);
  const auto created_at = head.created_at.value_or(written_at);
  Known fresh{.stamp = *stamp,
              .is_settled = is_settled(*stamp),
              .is_new = is_new(reference, *stamp),
              .was_found = true,
              .listed = std::make_shared<const ListedProposal>(address, std::move(head), created_at, written_at)};
  known_.insert_or_assign(std::move(reference), std::move(fresh));
}

std::optional<ProposalFile> ProposalFiles::read(const ProposalAddress& address) {
  AGW_DEBUG_ASSERT(may_block());

  const auto path = path_of(address);
  const auto stamp = root_.stamp(path);
  const auto status = root_.status(path);
  if (!stamp || !status || status->type != FileType::regular) return std::nullopt;
  ProposalFile file{.written_at = modified_at(*stamp)};
  const auto bytes = root_.read(path, max_proposal_length);
  if (bytes) {
    try {
      file.text = read_proposal_text(*bytes);
      file.head = read_proposal_head(file.text.head, address);
      if (!is_utf8(file.text.content)) file.head.problem = "the content is not UTF-8";
    } catch (const YamlError& error) {
      file.head = broken_proposal_head(error.what(), address);
      file.text.content = to_utf8(*bytes);
    }
  } else if (bytes.error() == FileError::too_large || bytes.error() == FileError::permission) {
    file.head = head_of(beginning_of(root_, path), address);
    file.unread = bytes.error();
  } else {
    return std::nullopt;
  }
  file.created_at = file.head.created_at.value_or(file.written_at);
  return file;
}

bool ProposalFiles::has(const ProposalAddress& address) const { return root_.stamp(path_of(address)).has_value(); }

void ProposalFiles::write(const ProposalAddress& address, const std::string& text) {
  AGW_DEBUG_ASSERT(may_block());

  const auto path = path_of(address);
  if (const auto made = root_.make_directories(folder_of(path)); !made) fail(path, made.error());
  if (const auto written = root_.write(path, text); !written) fail(path, written.error());
  known_.try_emplace(address.text());
}

void ProposalFiles::change(const ProposalAddress& address, const Edit& edit) {
  const auto path = path_of(address);
  const auto changed = update_file(root_, path, max_proposal_length, [&](const std::string*) {
    const auto file = read(address);
    return edit(file ? &*file : nullptr);
  });
  if (!changed && changed.error() != FileError::not_found) fail(path, changed.error());
  if (!changed) edit(nullptr);
  known_.try_emplace(address.text());
}

void ProposalFiles::remove(const ProposalAddress& address) {
  const auto path = path_of(address);
  if (const auto removed = root_.remove(path); !removed && removed.error() != FileError::not_found) {
    fail(path, removed.error());
  }
}

bool ProposalFiles::expect(const ProposalAddress& address) {
  const auto reference = address.text();
  const auto stamp = root_.stamp(path_of(address));
  const bool is_news = stamp && is_new(reference, *stamp);
  known_.try_emplace(reference);
  return is_news;
}

}  // namespace agw
