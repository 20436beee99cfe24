#include "io/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/id.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

namespace {

constexpr std::string_view temporary_prefix = ".agw-";
constexpr std::string_view temporary_suffix = ".tmp";
constexpr std::size_t digits_of_key = 32;

/// A new file that is deleted unless it is renamed.
class TemporaryFile {
public:
  explicit TemporaryFile(int directory)
      : directory_(directory),
        name_(temporary_name()),
        file_(::openat(directory, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) {}
  ~TemporaryFile() {
    if (file_ && !renamed_) ::unlinkat(directory_, name_.c_str(), 0);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// The functions below return false with `errno` set.
  bool opened() const { return static_cast<bool>(file_); }
  bool write(std::string_view content) {
    AGW_ASSERT(file_);
    AGW_ASSERT(!renamed_);
    while (!content.empty()) {
      const auto written = ::write(file_.get(), content.data(), content.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool finish(mode_t mode, Durability durability) {
    AGW_ASSERT(!renamed_);
    return ::fchmod(file_.get(), mode) == 0 && (durability == Durability::later || ::fsync(file_.get()) == 0);
  }
  bool rename_to(const std::string& name) {
    AGW_ASSERT(!renamed_);
    renamed_ = ::renameat(directory_, name_.c_str(), directory_, name.c_str()) == 0;
    return renamed_;
  }

  /// Renames the file; returns false if the name exists. NFS does not support the flag, but has links.
  bool take_free_name(const std::string& name) {
    AGW_ASSERT(!renamed_);
    renamed_ = ::renameat2(directory_, name_.c_str(), directory_, name.c_str(), RENAME_NOREPLACE) == 0;
    if (renamed_ || errno == EEXIST) return renamed_;
    return ::linkat(directory_, name_.c_str(), directory_, name.c_str(), 0) == 0;
  }

private:
  int directory_;
  std::string name_;
  Descriptor file_;
  bool renamed_ = false;
};

Descriptor parent_of(const std::filesystem::path& path) {
  const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw_errno("cannot write " + path.string());
  return directory;
}

}  // namespace

void replace_file_in(int directory, const std::string& name, std::string_view content, mode_t mode,
                     const std::filesystem::path& path, Durability durability) {
  AGW_ASSERT(name.find('/') == name.npos);
  TemporaryFile file(directory);
  const bool replaced = file.opened() && file.write(content) && file.finish(mode, durability) && file.rename_to(name);
  if (!replaced || (durability == Durability::now && ::fsync(directory) != 0))
    throw_errno("cannot write " + path.string());
}

void replace_file(const std::filesystem::path& path, std::string_view content, mode_t mode) {
  AGW_DEBUG_ASSERT(may_block());

  const auto directory = parent_of(path);
  replace_file_in(directory.get(), path.filename().string(), content, mode, path);
}

bool create_file(const std::filesystem::path& path, std::string_view content, mode_t mode) {
  AGW_DEBUG_ASSERT(may_block());

  const auto directory = parent_of(path);
  TemporaryFile file(directory.get());
  const bool written = file.opened() && file.write(content) && file.finish(mode, Durability::now);
  if (written && file.take_free_name(path.filename().string()) && ::fsync(directory.get()) == 0) return true;
  if (!written || errno != EEXIST) throw_errno("cannot write " + path.string());
  return false;
}

namespace {

/// Names that lists would show, or that no start would remove, must never be used.
std::string temporary_name_with(const std::string& digits) {
  auto name = std::string(temporary_prefix) + digits + std::string(temporary_suffix);
  AGW_ASSERT(is_temporary_name(name));
  return name;
}

}  // namespace

std::string temporary_name() { return temporary_name_with(random_hex(8)); }

std::string temporary_name_of(std::string_view key) {
  return temporary_name_with(to_hex(sha256(key)).substr(0, digits_of_key));
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(temporary_prefix) && name.ends_with(temporary_suffix);
}

}  // namespace agw
