// `agw backup`. Uses no endpoint: copies the database through a snapshot, checks the copy, then adds it and the other
// files to the archive. Everything is written to a temporary file, which is renamed only when it is complete, so an
// interrupted backup replaces nothing.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json.hpp"
#include "base/printable.hpp"
#include "base/text/is_within.hpp"
#include "base/time/time.hpp"
#include "cli/client/client.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/backup_format.hpp"
#include "cli/commands/programs.hpp"
#include "cli/output/progress.hpp"
#include "config/settings.hpp"
#include "io/files/archive.hpp"
#include "io/files/directory.hpp"
#include "io/files/disk_full.hpp"
#include "io/files/entry_state.hpp"
#include "storage/backup.hpp"
#include "storage/connection.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_entries = 1'000'000;
constexpr std::uintmax_t bytes_freed_at_once = 4 * 1024 * 1024;

struct BackupOptions {
  std::string file;
  std::optional<std::string> data_dir;
  bool checkpoints = false;
};

/// A file that is deleted unless it was renamed. It is truncated in pieces, because freeing a gigabyte at once delays
/// all other writers to that disk.
class UnfinishedFile {
public:
  explicit UnfinishedFile(fs::path path) : path_(std::move(path)) {}
  ~UnfinishedFile() {
    std::error_code error;
    if (fs::hard_link_count(path_, error) == 1) {
      for (auto size = fs::file_size(path_, error); !error && size > bytes_freed_at_once; size -= bytes_freed_at_once) {
        fs::resize_file(path_, size - bytes_freed_at_once, error);
      }
    }
    remove(path_);
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const fs::path& path() const { return path_; }

  /// Deletes the file and SQLite's files for it at once.
  static void remove(const fs::path& path) {
    std::error_code error;
    fs::remove(path, error);
    fs::remove(path.string() + "-journal", error);
  }

private:
  fs::path path_;
};

constexpr std::string_view unfinished_mark = ".unfinished-";
constexpr std::size_t unfinished_digits = 8;

bool is_unfinished_name(const std::string& name) {
  const auto mark = name.rfind(unfinished_mark);
  if (mark == name.npos) return false;
  const auto id = name.substr(mark + unfinished_mark.size());
  const auto digits = std::min(id.find_first_not_of("0123456789abcdef"), id.size());
  const auto ending = id.substr(digits);
  return digits == unfinished_digits && (ending.empty() || ending == ".db" || ending == ".db-journal");
}

/// Deletes what killed backups left in the folder. A file of a backup that still runs is younger than a day.
void remove_leftovers(const fs::path& folder) {
  const auto written_before = fs::file_time_type::clock::now() - std::chrono::days(1);
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const bool is_ours =
        is_unfinished_name(entry->path().filename()) && fs::is_regular_file(entry->symlink_status(gone));
    if (is_ours && entry->last_write_time(gone) < written_before && !gone) leftovers.push_back(entry->path());
  }
  for (const auto& leftover : leftovers) {
    std::cerr << "removed, because a backup that was killed left it: " << one_line(leftover.string()) << '\n';
    const UnfinishedFile removed(leftover);
  }
}

fs::path database_next_to(const fs::path& target) { return target.string() + ".db"; }

/// Adds the files of the data directory to the archive, except for excluded ones. Omits symlinks: they may lead
/// anywhere, and a restore would have to trust them.
class BackedUpFiles {
public:
  BackedUpFiles(Directory directory, ArchiveWriter& archive, bool checkpoints)
      : directory_(std::move(directory)), archive_(archive), checkpoints_(checkpoints) {}

  void add(const fs::path& beneath) {
    const auto listed = directory_.list(beneath.empty() ? "." : beneath.string(), max_entries);
    if (!listed) return miss(beneath, listed.error());
    for (const auto& entry : *listed) {
      const auto path = beneath / entry.name;
      if (beneath.empty() && (is_left_out(entry.name) || entry.name == data_files::database)) continue;
      if (entry.type == FileType::directory) {
        archive_.add_directory(std::string(backup_data) + path.string() + "/");
        add(path);
      } else if (entry.type == FileType::regular) {
        add_file(path);
      } else {
        std::cerr << "left out, because it is neither a file nor a folder: " << one_line(path.string()) << '\n';
      }
    }
  }
  std::size_t count() const { return count_; }
  bool are_complete() const { return complete_; }

private:
  bool is_left_out(std::string_view name) const {
    return name == "lost+found" || (name == data_files::checkpoints && !checkpoints_) ||
           contains(excluded_from_backup, name);
  }

  void add_file(const fs::path& path) {
    const auto file = directory_.file(path.string());
    if (!file) return miss(path, file.error());
    archive_.add(std::string(backup_data) + path.string(), *file);
    ++count_;
  }

  const Directory directory_;
  ArchiveWriter& archive_;
  /// What was removed in the meantime is not missing.
  void miss(const fs::path& path, FileError why) {
    if (why == FileError::not_found) return;
    std::cerr << fmt::format("left out, because it cannot be read: {}: {}\n", one_line(path.string()), to_string(why));
    complete_ = false;
  }

  const bool checkpoints_;
  std::size_t count_ = 0;
  bool complete_ = true;
};

std::string head() {
  return to_json(json::object{{"format", "agent-gateway-backup"},
                              {"version", backup_version},
                              {"agw_version", AGW_VERSION},
                              {"created_at", to_iso8601(SystemClock().now())}});
}

Descriptor open_new(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw_errno("cannot write " + path.string());
  return file;
}

void raise_signal(const fs::path& data, const std::string& problem) {
  try {
    const auto gateway = find_gateway(data.string());
    Loop loop;
    run(loop, [](const FoundGateway& found, std::string message) -> Task<int> {
      co_await Client(found).post(path({"signals"}),
                                  {{"kind", "database-damaged"}, {"message", message}, {"severity", "critical"}});
      co_return 0;
    }(gateway, problem));
  } catch (const std::exception& error) {
    std::cerr << "agw: no signal was raised: " << error.what() << '\n';
  }
}

/// A running gateway reports the damage to its clients.
[[noreturn]] void refuse(const fs::path& data, const fs::path& file, const DatabaseProblem& problem) {
  if (running_gateway(data)) raise_signal(data, problem.of(file));
  throw std::runtime_error(
      fmt::format("{}: nothing was backed up. Stop the gateway and restore the last good backup: "
                  "agw restore <file>",
                  problem.of(file)));
}

std::optional<DatabaseProblem> problem_after_copying(const fs::path& file, const fs::path& copy, Progress& progress) {
  try {
    snapshot_database(file, copy, [&](auto done, auto total) { progress.show("copying the database", done, total); });
  } catch (const DatabaseError& error) {
    if (!error.is_damage()) throw;
    return DatabaseProblem{fmt::format("cannot be read: {}", error.what())};
  }
  return quick_database_problem(copy, FileUse::exclusive);
}

/// Refuses to replace a good backup by one of a damaged database. Checks the copy: nobody else waits for that file, and
/// it is what the archive will contain.
void copy_database(const fs::path& data, const fs::path& copy, Progress& progress) {
  const auto file = data / data_files::database;
  if (const auto problem = problem_after_copying(file, copy, progress)) refuse(data, file, *problem);
}

/// Copies the database first. Files that change afterwards count as manual edits, which the gateway adopts at its
/// start. In the opposite order, the start would undo changes recorded in between. Returns whether all files were read.
bool write_backup(const fs::path& data, const fs::path& target, bool checkpoints) {
  const UnfinishedFile database(database_next_to(target));
  Progress progress;
  copy_database(data, database.path(), progress);
  const auto output = open_new(target);
  ArchiveWriter archive(output);
  archive.add(std::string(backup_manifest), head());
  {
    const Descriptor copy(::open(database.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!copy) throw_errno("cannot read " + database.path().string());
    progress.show("compressing", 0, 1);
    archive.add(fmt::format("{}{}", backup_data, data_files::database), copy);
  }
  BackedUpFiles files(Directory::open(data, Symlinks::refuse).value(), archive, checkpoints);
  files.add({});
  const auto digest = archive.digest();
  archive.add(std::string(backup_trailer), to_json(json::object{{"files", files.count() + 1}, {"sha256", digest}}));
  archive.finish();
  return files.are_complete();
}

[[noreturn]] void refuse_taken(const fs::path& file) {
  throw std::runtime_error(file.string() + " is there already: choose another name");
}

void check(const fs::path& data, const fs::path& file) {
  if (file == "-") throw std::runtime_error("a backup cannot be written to standard output: name a file");
  const SettingsSources sources{.file = data / data_files::configuration};
  if (!load_settings(sources).cluster.database.empty()) {
    throw std::runtime_error(
        "the records are in PostgreSQL (cluster.database): back that database up with pg_dump, and then copy the "
        "files of the data directory");
  }
  if (!fs::exists(data / data_files::database)) {
    throw std::runtime_error(fmt::format("there is nothing to back up: {} holds no gateway.db", data.string()));
  }
  if (fs::exists(fs::symlink_status(file))) refuse_taken(file);
  const auto folder = fs::weakly_canonical(fs::absolute(file).parent_path());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw std::runtime_error(
        fmt::format("cannot write into {}: {}; choose another place", folder.string(), std::strerror(errno)));
  }
  if (is_within(folder, data))
    throw std::runtime_error("choose a place outside the data directory, best on another disk");
}

/// Lowers this process's priority below that of the gateway.
void step_back() {
  constexpr int lowest_priority = 19;
  ::setpriority(PRIO_PROCESS, 0, lowest_priority);
}

/// `place` is the path of the incomplete archive.
int make_backup(const fs::path& data, const fs::path& file, const fs::path& place, bool checkpoints) {
  const UnfinishedFile unfinished(place);
  bool complete = false;
  try {
    complete = write_backup(data, unfinished.path(), checkpoints);
  } catch (const DiskFull&) {
    // SQLite's message contains neither the disk nor a remedy. To read a database, it needs some space beside it.
    const auto where =
        is_on_full_disk(data)
            ? fmt::format("holds {} is full: make room there", data.string())
            : fmt::format("{} was to be written to is full: make room there, or choose another place", file.string());
    throw std::runtime_error("the disk that " + where);
  } catch (const ArchiveError& error) {
    throw std::runtime_error(fmt::format("nothing was backed up to {}: {}", file.string(), error.what()));
  } catch (const DatabaseError& error) {
    throw std::runtime_error(
        fmt::format("the database {} cannot be copied to {}: {}; `agw doctor` checks whether the database is intact",
                    (data / data_files::database).string(), file.string(), error.what()));
  }
  if (!rename_entry(AT_FDCWD, unfinished.path(), file, file)) refuse_taken(file);
  std::cerr << fmt::format("{} is written: {} KiB. Whoever can read it can read everything but the token.\n",
                           file.string(), (fs::file_size(file) + 1023) / 1024);
  if (!complete) {
    throw std::runtime_error(
        "the backup is incomplete, because files cannot be read: make them readable (chmod u+rX, or sudo chown), and "
        "back up again");
  }
  return 0;
}

int back_up(const BackupOptions& options) {
  step_back();
  const auto data = data_directory(options.data_dir);
  const fs::path file = options.file;
  check(data, file);
  remove_leftovers(fs::absolute(file).parent_path());
  const fs::path place = fmt::format("{}{}{}", file.string(), unfinished_mark, random_hex(unfinished_digits / 2));
  return run_in_child([&] { return make_backup(data, file, place, options.checkpoints); },
                      [&] {
                        UnfinishedFile::remove(place);
                        UnfinishedFile::remove(database_next_to(place));
                      });
}

}  // namespace

Action backup_command(Arguments& arguments) {
  auto options = std::make_shared<BackupOptions>();
  arguments.word("file", options->file, "The archive to write, such as gateway.tar.zst");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  arguments.flag("--checkpoints", options->checkpoints, "Include what is kept to undo changes of files");
  return [options] { return back_up(*options); };
}

}  // namespace agw::cli
