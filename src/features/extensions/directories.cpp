// Executes the steps on disk, in their order. A step that fails is kept in `failed_` and repeated: before a step that
// needs its path, at the next comparison, or at the next start. Later moves of the same directory wait for it; a later
// write or deletion replaces it.
//
// Files of people are never overwritten: `is_foreign` recognises files that the gateway has not written, and
// `set_aside` moves them to the trash. directories_compare.cpp has the opposite direction, from files to records.

#include "features/extensions/directories.hpp"

#include <algorithm>
#include <system_error>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/update_file.hpp"

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

/// The content id of a file: empty if there is no file, no value if it cannot be read as a file.
std::optional<std::string> id_of(const FileResult<std::string>& content) {
  if (content) return content_id(*content);
  if (content.error() == FileError::not_found || content.error() == FileError::not_directory) return "";
  return std::nullopt;
}

/// The texts that are not in the extension's files yet, joined.
std::string unwritten(const Directory& root, const Extension& extension) {
  const auto directory = directory_of(extension.type, extension.name);
  const auto text = text_of(extension);
  const auto says = [&](const std::string& path, const std::string& wanted) {
    return id_of(root.read(path, max_extension_file_length)) == content_id(wanted);
  };
  std::string unwritten;
  if (!says(config_path(directory), text.config)) unwritten += text.config;
  if (text.owns_prompt && text.prompt && !says(prompt_path(directory), *text.prompt)) unwritten += *text.prompt;
  return unwritten;
}

bool leaves(const DiskStep& step, const std::string& path) {
  return step.action == DiskStep::Action::move && step.directory == path;
}

}  // namespace

ExtensionDirectories::ExtensionDirectories(const std::filesystem::path& data_directory)
    : root_(Directory::open(data_directory).value()) {}

std::vector<std::int64_t> ExtensionDirectories::execute(const std::vector<DiskStep>& steps) {
  AGW_DEBUG_ASSERT(may_block());
  // Only while steps are repeated, contents of earlier ones may be in the files.
  AGW_DEBUG_ASSERT(sent_.empty());
  AGW_DEBUG_ASSERT(done_.empty());
  for (const auto& step : steps) {
    drop_superseded(step);
    free_place(step);
    execute(step, Attempt::first);
  }
  return std::exchange(done_, {});
}

std::vector<std::int64_t> ExtensionDirectories::repeat(const std::vector<DiskStep>& steps) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_DEBUG_ASSERT(sent_.empty());
  AGW_DEBUG_ASSERT(done_.empty());
  for (const auto& step : steps) sent_[step.extension_id].insert({step.config_id, step.prompt_id});
  for (const auto& step : steps) execute(step, Attempt::again);
  sent_.clear();
  return std::exchange(done_, {});
}

void ExtensionDirectories::execute(const DiskStep& step, Attempt attempt) {
  AGW_DEBUG_ASSERT(step.sequence > 0);
  if (!waits(step) && try_step(step, attempt))
    done_.push_back(step.sequence);
  else
    failed_.push_back(step);
}

bool ExtensionDirectories::try_step(const DiskStep& step, Attempt attempt) {
  try {
    if (step.action == DiskStep::Action::move)
      move(step, attempt);
    else if (step.text)
      write(step, attempt);
    return true;
  } catch (const std::exception& error) {
    log::error("{}: the directory cannot be updated from its record, trying again later: {}", step.directory,
               error.what());
    return false;
  }
}

/// Whether an earlier move of the directory has failed, so that this one must wait.
bool ExtensionDirectories::waits(const DiskStep& step) const {
  return step.action == DiskStep::Action::move && std::ranges::any_of(failed_, [&](const DiskStep& failed) {
           return failed.action == DiskStep::Action::move && failed.extension_id == step.extension_id &&
                  failed.sequence < step.sequence;
         });
}

bool ExtensionDirectories::is_to_be_moved(const std::string& path) const {
  return std::ranges::any_of(failed_, [&](const DiskStep& failed) { return leaves(failed, path); });
}

/// Drops failed writes that `step` replaces: they must not be repeated after it.
void ExtensionDirectories::drop_superseded(const DiskStep& step) {
  if (step.action == DiskStep::Action::move && !is_in_trash(step.target)) return;
  std::erase_if(failed_, [&](const DiskStep& failed) {
    return failed.action == DiskStep::Action::write && failed.extension_id == step.extension_id;
  });
}

/// Repeats a failed move if its directory still occupies the path that this step needs.
void ExtensionDirectories::free_place(const DiskStep& step) {
  const auto& place = step.action == DiskStep::Action::move ? step.target : step.directory;
  for (std::size_t i = 0; i < failed_.size();) {
    const auto& failed = failed_[i];
    const bool is_in_the_way = leaves(failed, place) && failed.extension_id != step.extension_id;
    if (is_in_the_way && !waits(failed) && try_step(failed, Attempt::again)) {
      done_.push_back(failed.sequence);
      failed_.erase(failed_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

/// Drops failed moves from `path`, whose directory now belongs to another extension.
void ExtensionDirectories::abandon_moves(const std::string& path) {
  std::erase_if(failed_, [&](const DiskStep& failed) {
    if (!leaves(failed, path)) return false;
    done_.push_back(failed.sequence);
    return true;
  });
}

void ExtensionDirectories::move(const DiskStep& step, Attempt attempt) {
  AGW_ASSERT(step.action == DiskStep::Action::move);
  move_directory(step, attempt);
  if (!is_in_trash(step.target)) return;
  known_.erase(step.extension_id);
  changed_.erase(step.extension_id);
}

void ExtensionDirectories::move_directory(const DiskStep& step, Attempt attempt) {
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
}

/// Whether the old name is now that of another directory, which means that the move is complete.
bool ExtensionDirectories::is_moved_already(const DiskStep& step, const FileResult<FileStamp>& source) const {
  const auto known = known_.find(step.extension_id);
  const auto inode = step.inode == 0 && known != known_.end() ? known->second.inode : step.inode;
  if (inode == 0) return root_.stamp(step.target).has_value();
  return source && source->inode != inode;
}

void ExtensionDirectories::write(const DiskStep& step, Attempt attempt) {
  AGW_ASSERT(step.action == DiskStep::Action::write);
  AGW_ASSERT(step.text);
  const auto config = config_path(step.directory);
  const auto prompt = prompt_path(step.directory);
  const auto is_edited = [&](const std::string& path) {
    const auto id = id_of(root_.read(path, max_extension_file_length));
    // An empty file is the result of a power failure, not an edit.
    return id != content_id("") && is_foreign(step.extension_id, id);
  };
  const auto& text = *step.text;
  if (attempt == Attempt::again) {
    if (is_edited(config) || (text.owns_prompt && is_edited(prompt))) return;
    mark_as_own(step);
  }

  require(root_.make_directories(step.directory), step.directory);
  if (text.owns_prompt) replace(step, prompt, text.prompt);
  replace(step, config, text.config);
  auto known = read(type_of_directory(step.directory), step.directory).known;
  known.config.content_id = step.config_id;
  known.prompt.content_id = text.owns_prompt ? step.prompt_id : "";
  if (known_[step.extension_id].inode != known.inode) made_.emplace_back(step.extension_id, known);
  accept(step.extension_id, step.directory, known);
  abandon_moves(step.directory);
}

/// Marks the files as written by the gateway. If the repeated write fails too, they hold an older text of the gateway,
/// which must not count as an edit.
void ExtensionDirectories::mark_as_own(const DiskStep& step) {
  AGW_ASSERT(step.text);
  const auto now = read(type_of_directory(step.directory), step.directory).known;
  if (now.config.content_id.empty()) return;
  auto& known = known_[step.extension_id];
  known.config.content_id = now.config.content_id;
  if (step.text->owns_prompt) known.prompt.content_id = now.prompt.content_id;
}

void ExtensionDirectories::replace(const DiskStep& step, const std::string& path,
                                   const std::optional<std::string>& wanted) {
  if (!wanted) {
    // If the record has no prompt, a file that a person wrote becomes the job's prompt, as does an unreadable one.
    bool is_own = false;
    const auto removed = remove_file_if(root_, path, max_extension_file_length, [&](const std::string& present) {
      return is_own = !is_foreign(step.extension_id, content_id(present));
    });
    if (is_own) require(removed, path);
    return;
  }
  const auto change = [&](const std::string* present) -> std::optional<std::string> {
    if (present && *present == *wanted) return std::nullopt;
    if (present && is_foreign(step.extension_id, content_id(*present))) set_aside(path);
    return wanted;
  };
  const auto put = [&] { return update_file(root_, path, max_extension_file_length, change, 0600, Durability::later); };
  auto written = put();
  if (!written) {
    set_aside(path);  // what cannot be read was not written by the gateway
    written = put();
  }
  require(written, path);
}

/// Whether a file with that content id (from `id_of`) was not written by the gateway.
bool ExtensionDirectories::is_foreign(const std::string& extension_id, const std::optional<std::string>& id) const {
  return !id || (!id->empty() && !is_ours(extension_id, *id));
}

bool ExtensionDirectories::is_ours(const std::string& extension_id, const std::string& content_id) const {
  if (const auto known = known_.find(extension_id); known != known_.end()) {
    if (content_id == known->second.config.content_id || content_id == known->second.prompt.content_id) return true;
  }
  const auto sent = sent_.find(extension_id);
  return sent != sent_.end() && sent->second.contains(content_id);
}

void ExtensionDirectories::check_replaceable(const Extension& extension) const {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(is_file_backed(extension.type));
  const auto path = directory_of(extension.type, extension.name);
  require(root_.make_directories(parent_of(path)), parent_of(path));
  const auto above = root_.directory(parent_of(path));
  require(above, parent_of(path));
  // A symlink could lead to the directory of another extension.
  const auto strict = Directory::open(above->real_path(), Symlinks::refuse);
  require(strict, parent_of(path));
  require(strict->make_directories(extension.name), path);
  const auto attempt = extension.name + "/" + temporary_name();
  // As long as the real text, to find out whether the disk has space for it.
  require(strict->write(attempt, unwritten(root_, extension), 0600, Durability::later), path);
  require(strict->remove(attempt), path);
  const auto id = id_of(root_.read(config_path(path), max_extension_file_length));
  if (is_foreign(extension.id, id)) require(root_.make_directories(parent_of(path_in_trash(path, ""))), "trash");
}

void ExtensionDirectories::set_aside(const std::string& path) {
  const auto kept = path_in_trash(path, random_hex(4));
  require(root_.make_directories(parent_of(kept)), kept);
  require(root_.move(path, kept), path);
  log::warn("{} occupied the path of an extension and was moved to {}", path, kept);
}

void ExtensionDirectories::accept(const std::string& extension_id, const std::string& path,
                                  const KnownDirectory& known) {
  AGW_ASSERT(!extension_id.empty());
  AGW_DEBUG_ASSERT(!is_in_trash(path));
  known_[extension_id] = known;
  changed_[extension_id] = path;
}

KnownDirectories ExtensionDirectories::made() { return std::exchange(made_, {}); }

KnownDirectories ExtensionDirectories::take_changed() {
  KnownDirectories changed;
  for (const auto& [id, path] : std::exchange(changed_, {})) {
    AGW_ASSERT(known_.contains(id));
    auto known = known_[id];
    const auto now = read(type_of_directory(path), path).known;
    if (now.config.content_id != known.config.content_id) known.config.stamp = {};
    if (now.prompt.content_id != known.prompt.content_id) known.prompt.stamp = {.inode = 1};
    known_[id] = known;
    changed.emplace_back(id, known);
  }

  return changed;
}

}  // namespace agw
