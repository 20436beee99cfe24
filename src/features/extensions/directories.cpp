#include "features/extensions/directories.hpp"

#include <algorithm>
#include <system_error>

#include "base/content_id.hpp"
#include "base/id.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

template <class T>
void require(const FileResult<T>& result, const std::string& what) {
  if (!result) {
    throw std::system_error(std::make_error_code(std::errc::io_error),
                            what + ": " + std::string(to_string(result.error())));
  }
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// What a file holds, as its id: empty for none, nothing where it cannot be read as a file.
std::optional<std::string> id_of(const FileResult<std::string>& content) {
  if (content) return content_id(*content);
  if (content.error() == FileError::not_found || content.error() == FileError::not_directory) return "";
  return std::nullopt;
}

}  // namespace

ExtensionDirectories::ExtensionDirectories(const std::filesystem::path& data_directory)
    : root_(Directory::open(data_directory).value()) {}

std::vector<std::int64_t> ExtensionDirectories::take(const std::vector<DiskStep>& steps) {
  std::vector<std::int64_t> done;
  for (const auto& step : steps) {
    if (try_step(step, Attempt::first)) done.push_back(step.sequence);
  }
  return done;
}

std::vector<std::int64_t> ExtensionDirectories::take_again(const std::vector<DiskStep>& steps) {
  for (const auto& step : steps) sent_[step.extension_id].insert({step.config_id, step.prompt_id});
  std::vector<std::int64_t> done;
  for (const auto& step : steps) {
    if (try_step(step, Attempt::again)) done.push_back(step.sequence);
  }
  sent_.clear();
  return done;
}

bool ExtensionDirectories::try_step(const DiskStep& step, Attempt attempt) {
  try {
    if (step.action == DiskStep::Action::move)
      move(step, attempt);
    else if (step.text)
      write(step, attempt);
    return true;
  } catch (const std::exception& error) {
    log::error("{}: the directory cannot follow its record, which is kept: {}", step.directory, error.what());
    failed_.push_back(step);
    return false;
  }
}

void ExtensionDirectories::move(const DiskStep& step, Attempt attempt) {
  const auto source = root_.stamp(step.directory);
  if (!source && source.error() == FileError::not_found) return;
  if (attempt == Attempt::again && is_moved_already(step, source)) return;
  require(root_.make_directories(parent_of(step.target)), step.target);
  auto moved = root_.move(step.directory, step.target);
  if (!moved && (moved.error() == FileError::exists || moved.error() == FileError::not_directory)) {
    set_aside(step.target);
    moved = root_.move(step.directory, step.target);
  }
  require(moved, step.directory + " cannot be moved to " + step.target);
  if (is_in_trash(step.target)) {
    known_.erase(step.extension_id);
    news_.erase(step.extension_id);
  }
}

/// Whether what stands at the old name now is another directory.
bool ExtensionDirectories::is_moved_already(const DiskStep& step, const FileResult<FileStamp>& source) const {
  const auto known = known_.find(step.extension_id);
  const auto inode = step.inode == 0 && known != known_.end() ? known->second.inode : step.inode;
  if (inode == 0) return root_.stamp(step.target).has_value();
  return source && source->inode != inode;
}

void ExtensionDirectories::write(const DiskStep& step, Attempt attempt) {
  const auto config = config_path(step.directory);
  const auto prompt = prompt_path(step.directory);
  const auto is_edited = [&](const std::string& path) {
    const auto id = id_of(root_.read(path, longest_extension_file));
    // A file that a crash of the machine left empty was no person's.
    return !id || (!id->empty() && *id != content_id("") && !is_ours(step, *id));
  };
  const auto& text = *step.text;
  if (attempt == Attempt::again && (is_edited(config) || (text.owns_prompt && is_edited(prompt)))) return;

  require(root_.make_directories(step.directory), step.directory);
  if (text.owns_prompt) replace(step, prompt, text.prompt);
  replace(step, config, text.config);
  auto known = read(type_of_directory(step.directory), step.directory).known;
  known.config.content_id = step.config_id;
  known.prompt.content_id = text.owns_prompt ? step.prompt_id : "";
  if (known_[step.extension_id].inode != known.inode) made_.emplace_back(step.extension_id, known);
  accept(step.extension_id, step.directory, known);
}

void ExtensionDirectories::replace(const DiskStep& step, const std::string& path,
                                   const std::optional<std::string>& wanted) {
  const auto id = id_of(root_.read(path, longest_extension_file));
  if (id == (wanted ? content_id(*wanted) : "")) return;
  const bool is_foreign = !id || (!id->empty() && !is_ours(step, *id));
  // A prompt that a person wrote is the job's where the record has none.
  if (!wanted) {
    if (!is_foreign) require(root_.remove(path), path);
    return;
  }
  if (is_foreign) set_aside(path);
  require(root_.write(path, *wanted, 0600, Durability::later), path);
}

bool ExtensionDirectories::is_ours(const DiskStep& step, const std::string& content_id) const {
  if (const auto known = known_.find(step.extension_id); known != known_.end()) {
    if (content_id == known->second.config.content_id || content_id == known->second.prompt.content_id) return true;
  }
  const auto sent = sent_.find(step.extension_id);
  return sent != sent_.end() && sent->second.contains(content_id);
}

void ExtensionDirectories::set_aside(const std::string& path) {
  const auto kept = path_in_trash(path, random_hex(4));
  require(root_.make_directories(parent_of(kept)), kept);
  require(root_.move(path, kept), path);
  log::warn("{} was in the way and is kept as {}", path, kept);
}

void ExtensionDirectories::accept(const std::string& extension_id, const std::string& path,
                                  const KnownDirectory& known) {
  known_[extension_id] = known;
  news_[extension_id] = path;
}

std::vector<std::pair<std::string, KnownDirectory>> ExtensionDirectories::made() { return std::exchange(made_, {}); }

std::vector<std::pair<std::string, KnownDirectory>> ExtensionDirectories::news() {
  std::vector<std::pair<std::string, KnownDirectory>> news;
  for (const auto& [id, path] : std::exchange(news_, {})) {
    auto known = known_[id];
    const auto now = read(type_of_directory(path), path).known;
    if (now.config.content_id != known.config.content_id) known.config.stamp = {};
    if (now.prompt.content_id != known.prompt.content_id) known.prompt.stamp = {.inode = 1};
    known_[id] = known;
    news.emplace_back(id, known);
  }
  return news;
}

}  // namespace agw
