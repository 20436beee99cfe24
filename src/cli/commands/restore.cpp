#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/backup_format.hpp"
#include "cli/commands/programs.hpp"
#include "config/data_directory.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/lock_file.hpp"
#include "io/sandbox/private_files.hpp"
#include "storage/backup.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

struct RestoreOptions {
  std::string file;
  std::optional<std::string> data_dir;
};

/// A path in the same directory, so that a rename can exchange the two.
fs::path staging_next_to(const fs::path& data) {
  return fmt::format("{}{}{}", data.string(), unpacked_data_mark, random_hex(unpacked_data_digits / 2));
}

/// A new directory that is deleted unless it was renamed or kept.
class StagingDirectory {
public:
  explicit StagingDirectory(fs::path path) : path_(std::move(path)) {
    if (::mkdir(path_.c_str(), 0700) != 0) throw_errno("cannot make " + path_.string());
  }
  ~StagingDirectory() {
    std::error_code ignored;
    if (!is_kept_) fs::remove_all(path_, ignored);
  }
  StagingDirectory(const StagingDirectory&) = delete;
  StagingDirectory& operator=(const StagingDirectory&) = delete;

  const fs::path& path() const { return path_; }
  void keep(bool is_kept) { is_kept_ = is_kept; }

private:
  fs::path path_;
  bool is_kept_ = false;
};

/// Copies the token, which the backup lacks. Devices paired with this gateway stay paired.
void copy_token(const fs::path& from, const fs::path& to) {
  const auto token = from / data_files::token;
  if (fs::exists(token)) fs::copy_file(token, to / data_files::token);
}

std::string timestamp() {
  auto time = to_iso8601(SystemClock().now());
  std::erase_if(time, [](char c) { return c == '-' || c == ':' || c == '.'; });
  return time;
}

[[noreturn]] void cannot_rename(const fs::path& from, const fs::path& to, const std::error_code& why,
                                const fs::path& old_data) {
  throw std::runtime_error(fmt::format("cannot rename {} to {}: {}; the old data is in {}", from.string(), to.string(),
                                       why.message(), old_data.string()));
}

bool exchange(const fs::path& one, const fs::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

/// Exchanges the two atomically, so that a crash never leaves a mixture. Where that is impossible, as on NFS, there is
/// no data directory for a moment. Returns the path of the old data. If they cannot get their new names, they get back
/// those that they had.
fs::path put_in_place(StagingDirectory& staging, const fs::path& data) {
  const fs::path kept = fmt::format("{}{}{}", data.string(), kept_data_mark, timestamp());
  std::error_code failed;
  if (exchange(staging.path(), data)) {
    staging.keep(true);  // it is the old data now
    fs::rename(staging.path(), kept, failed);
    if (!failed) return kept;
    const bool is_back = exchange(staging.path(), data);
    staging.keep(!is_back);
    cannot_rename(data, kept, failed, is_back ? data : staging.path());
  }
  if (errno != EINVAL || ::rename(data.c_str(), kept.c_str()) != 0) {
    throw_errno(fmt::format("cannot swap {} with {} (is that a mount point? restore into a directory below it)",
                            staging.path().string(), data.string()));
  }
  fs::rename(staging.path(), data, failed);
  if (!failed) return kept;
  const bool is_back = ::rename(kept.c_str(), data.c_str()) == 0;
  cannot_rename(staging.path(), data, failed, is_back ? data : kept);
}

/// True for a directory created for this restore.
bool holds_its_lock_only(const fs::path& directory) {
  return std::ranges::all_of(fs::directory_iterator(directory),
                             [](const auto& entry) { return entry.path().filename() == data_files::lock; });
}

void unpack(const fs::path& archive, const fs::path& staging) {
  unpack_backup(archive, staging);
  if (const auto problem = database_problem(staging / data_files::database)) {
    throw std::runtime_error(fmt::format("nothing was restored: the database in {}", problem->of(archive)));
  }
}

int restore_over(const fs::path& archive, const fs::path& data, const fs::path& place) {
  if (const auto running = find_running_gateway(data)) {
    throw StartError(
        ExitStatus::already_running,
        fmt::format("a gateway (process {}) already runs on {}: stop it first", running->pid, data.string()));
  }
  // Nodes lock their own files, and may run on other hosts.
  if (const auto nodes = data / data_files::nodes; fs::exists(nodes)) {
    throw StartError(ExitStatus::failure,
                     fmt::format("nodes of a cluster share {0}: restore into another directory (--data-dir); if they "
                                 "share it no more, remove {1}",
                                 data.string(), nodes.string()));
  }
  const LockFile lock(data);
  StagingDirectory staging(place);
  unpack(archive, staging.path());
  copy_token(data, staging.path());
  ignore_termination();
  const auto kept = put_in_place(staging, data);
  if (holds_its_lock_only(kept)) {
    fs::remove_all(kept);
    std::cerr << fmt::format("{} is restored.\n", data.string());
    return 0;
  }
  std::cerr << fmt::format("{} is restored. The old data is kept in {}.\n", data.string(), kept.string());
  return 0;
}

int restore(const RestoreOptions& options) {
  const auto directory = find_data_directory(options.data_dir, process_environment());
  if (!fs::exists(options.file)) throw std::runtime_error("there is no file " + options.file);
  // Checks the directory as a start does: it must belong to this user.
  prepare_data_directory(directory);
  const auto place = staging_next_to(directory.path);
  return run_in_child([&] { return restore_over(options.file, directory.path, place); },
                      [&] {
                        std::error_code ignored;
                        fs::remove_all(place, ignored);
                      });
}

}  // namespace

Action restore_command(Arguments& arguments) {
  auto options = std::make_shared<RestoreOptions>();
  arguments.word("file", options->file, "An archive that `agw backup` made");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return restore(*options); };
}

}  // namespace agw::cli
