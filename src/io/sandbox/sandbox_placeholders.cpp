#include "io/sandbox/sandbox_placeholders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/directory.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr auto note_name = "placeholders";
constexpr std::size_t max_note_length = 16 << 20;
/// The maximum size of outdated entries in the journal before it is rewritten. They are harmless.
constexpr std::size_t max_outdated = 64 << 10;
static_assert(max_outdated < max_note_length);

std::optional<SandboxPlaceholders::PlaceholderIdentity> identity_at(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t second = 1'000'000'000;
  return SandboxPlaceholders::PlaceholderIdentity{status.st_dev, status.st_ino,
                                                  status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
}

bool make_file(const fs::path& path, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return false;
  // Other programs must be able to read the file, regardless of the umask.
  const bool made = ::fchmod(file.get(), 0644) == 0 &&
                    ::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
  if (!made) ::unlink(path.c_str());
  return made;
}

bool make(const fs::path& path, std::string_view content, mode_t mode) {
  return content.empty() ? ::mkdir(path.c_str(), mode) == 0 : make_file(path, content);
}

bool is_same_file(const SandboxPlaceholders::PlaceholderIdentity& one,
                  const SandboxPlaceholders::PlaceholderIdentity& other) {
  return one.device == other.device && one.inode == other.inode;
}

std::string line_of(const fs::path& path, const SandboxPlaceholders::PlaceholderIdentity& made) {
  AGW_ASSERT(path.is_absolute());
  // Ends the line.
  AGW_ASSERT(path.native().find('\0') == std::string::npos);
  return fmt::format("{} {} {} {}", made.device, made.inode, made.changed_ns, path.native()) + '\0';
}

/// Takes a fifth of the time of rewriting the journal.
bool append_to_note(const fs::path& data_directory, const std::string& text) {
  constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(::open((data_directory / note_name).c_str(), flags, 0600));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Needs no sync: after a kill of the gateway, the kernel still has the data.
void write_note(const fs::path& data_directory, const std::string& text) {
  const auto directory = Directory::open(data_directory);
  const auto written = !directory     ? FileResult<void>(directory.error())
                       : text.empty() ? directory->remove(note_name)
                                      : directory->write(note_name, text, 0600, Durability::later);
  if (written || written.error() == FileError::not_found) return;
  log::warn(
      "{} cannot be written ({}): a kill would leave what commands were kept from making in projects: empty .git and "
      ".agents, .git/commondir",
      (data_directory / note_name).string(), to_string(written.error()));
}

}  // namespace

bool SandboxPlaceholders::hold(const fs::path& path, std::string_view content, mode_t mode) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(path.is_absolute());

  const std::lock_guard lock(mutex_);
  const auto held = held_.find(path);
  const auto found = identity_at(path);
  if (held != held_.end() && found && is_same_file(*found, held->second.made)) {
    ++held->second.count;
    return true;
  }
  // A person may have removed a placeholder that a command still uses.
  if (found || !make(path, content, mode)) return false;
  const auto others = held == held_.end() ? 0 : held->second.count;
  const auto made = identity_at(path).value_or(PlaceholderIdentity{});
  held_[path] = {others + 1, made};
  AGW_ASSERT(held_.at(path).count > 0);
  const auto line = line_of(path, made);
  noted_ += line.size();
  if (!append_to_note(data_directory_, line)) note();
  return true;
}

void SandboxPlaceholders::release(const std::vector<fs::path>& paths) {
  const std::lock_guard lock(mutex_);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const auto held = held_.find(*path);
    AGW_ASSERT(held != held_.end());
    AGW_ASSERT(held->second.count > 0);
    if (--held->second.count > 0) continue;
    // Keeps a file that another program has put there since.
    if (::rmdir(path->c_str()) != 0 && identity_at(*path) == held->second.made) ::unlink(path->c_str());
    held_.erase(held);
  }
  AGW_DEBUG_ASSERT(std::ranges::all_of(held_, [](const auto& each) { return each.second.count > 0; }));
  if (noted_ > (held_.empty() ? 0 : max_outdated)) note();
}

void SandboxPlaceholders::note() {
  std::string text;
  for (const auto& [path, held] : held_) text += line_of(path, held.made);
  noted_ = text.size();
  try {
    write_note(data_directory_, text);
  } catch (const std::system_error& error) {
    // A failure here must not fail the command.
    log::warn("{}", error.what());
  }
}

namespace {

std::size_t sweep(const fs::path& data_directory) {
  const auto directory = Directory::open(data_directory);
  const auto noted =
      directory ? directory->read(note_name, max_note_length) : FileResult<std::string>(directory.error());
  if (!noted) return 0;
  std::istringstream text(*noted);
  std::size_t removed = 0;
  SandboxPlaceholders::PlaceholderIdentity made;
  std::string path;
  while (text >> made.device >> made.inode >> made.changed_ns && text.get() == ' ' && std::getline(text, path, '\0')) {
    if (identity_at(path) == made && std::remove(path.c_str()) == 0) ++removed;
  }
  write_note(data_directory, "");
  return removed;
}

}  // namespace

std::size_t remove_stale_placeholders(const fs::path& data_directory) {
  AGW_DEBUG_ASSERT(may_block());

  try {
    return sweep(data_directory);
  } catch (const std::system_error& error) {
    // A failure here must not prevent the start.
    log::warn("empty .git and .agents, or .git/commondir, may be left in projects: {}", error.what());
    return 0;
  }
}

}  // namespace agw
