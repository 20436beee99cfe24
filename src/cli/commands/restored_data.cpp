#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/data_files.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/commands/backup_format.hpp"
#include "io/files/archive.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_note_length = 64 * 1024;
constexpr std::uint64_t space_left_free = 100 << 20;
constexpr auto what_to_do = ": name a file that `agw backup` made";

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error("nothing was restored: " + why); }

/// Whether the path is normalised and stays below the data directory. Every component is created in a directory that
/// was empty, so no symlink can be part of it.
bool is_plain_path(const fs::path& path) {
  const auto is_plain = [](const fs::path& part) { return part != "." && part != ".." && !part.empty(); };
  return !path.empty() && path.is_relative() && std::ranges::all_of(path, is_plain);
}

class BackupUnpacker {
public:
  BackupUnpacker(const fs::path& archive, const fs::path& target)
      : archive_(archive), target_(target), reader_(archive) {}

  void run() {
    check_head();
    ArchiveReader::Entry entry;
    while (next(entry)) {
      if (entry.path == backup_trailer) return check_end();
      take(entry);
    }
    refuse("its end is missing");
  }

private:
  bool next(ArchiveReader::Entry& entry) {
    try {
      return reader_.next(entry);
    } catch (const ArchiveError& error) {
      refuse(fmt::format("{} is damaged or not a backup: {}", archive_.string(), one_line(error.what())));
    }
  }

  std::string_view read() {
    try {
      return reader_.read();
    } catch (const ArchiveError& error) {
      refuse(fmt::format("{} is damaged: {}", archive_.string(), one_line(error.what())));
    }
  }

  json::object read_note() {
    std::string text;
    for (auto bytes = read(); !bytes.empty() && text.size() <= max_note_length; bytes = read()) text += bytes;
    const auto note = parse_json(text);
    return note && note->is_object() ? note->get_object() : json::object();
  }

  void check_head() {
    ArchiveReader::Entry entry;
    if (!next(entry) || entry.path != backup_manifest)
      refuse(archive_.string() + " is no backup of Agent Gateway" + what_to_do);
    const auto head = read_note();
    const auto* version = head.if_contains("version");
    if (!version || !version->is_int64() || version->get_int64() < 1) refuse("its version is missing");
    if (version->get_int64() > backup_version) {
      refuse(fmt::format("it was made by a newer agw ({}): install that one",
                         one_line(string_member(head, "agw_version").value_or("?"))));
    }
  }

  void check_end() {
    const auto digest = reader_.digest_before();
    const auto end = read_note();
    const auto* files = end.if_contains("files");
    if (!files || !files->is_int64() || files->get_int64() != count_) refuse("files are missing");
    // Backups of older versions have no digest.
    const auto* wanted = end.if_contains("sha256");
    if (wanted && *wanted != json::value(digest)) {
      refuse(archive_.string() + " is damaged: its content is not what was backed up");
    }
    if (!fs::exists(target_ / data_files::database)) refuse("it contains no database");
  }

  void take(const ArchiveReader::Entry& entry) {
    auto text = entry.path;
    if (!text.starts_with(backup_data)) refuse_entry(entry);
    text.erase(0, backup_data.size());
    if (entry.kind == ArchiveReader::Kind::directory && text.ends_with('/')) text.pop_back();
    const fs::path path = text;
    if (!is_plain_path(path) || entry.kind == ArchiveReader::Kind::other) refuse_entry(entry);
    if (contains(excluded_from_backup, path.begin()->string())) refuse_entry(entry);
    if (entry.kind == ArchiveReader::Kind::directory)
      make_directory(path, entry);
    else
      write(path, entry);
  }

  [[noreturn]] static void refuse_entry(const ArchiveReader::Entry& entry) {
    refuse(fmt::format("it contains {}, which no backup does", one_line(entry.path, 200)));
  }

  void make_directory(const fs::path& path, const ArchiveReader::Entry& entry) {
    auto place = target_;
    for (const auto& part : path) {
      place /= part;
      if (::mkdir(place.c_str(), 0700) == 0) continue;
      const int why = errno;
      std::error_code ignored;
      if (why == EEXIST && fs::is_directory(place, ignored)) continue;
      if (why == EEXIST || why == ENOTDIR || why == ENAMETOOLONG) refuse_entry(entry);
      errno = why;
      throw_errno("cannot make " + place.string());
    }
  }

  void write(const fs::path& path, const ArchiveReader::Entry& entry) {
    check_space(entry.size);
    make_directory(path.parent_path(), entry);
    const auto place = target_ / path;
    const mode_t mode = 0600 | (entry.mode & 0100);
    const Descriptor file(::open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file && (errno == EEXIST || errno == ENAMETOOLONG || errno == EISDIR || errno == ENOTDIR)) refuse_entry(entry);
    if (!file) throw_errno("cannot write " + place.string());
    for (auto bytes = read(); !bytes.empty(); bytes = read()) put(file, bytes, place);
    if (entry.modified) set_time(file, *entry.modified);
    if (::fsync(file.get()) != 0) throw_errno("cannot write " + place.string());
    ++count_;
  }

  /// Restores the time, which is used by pages without a date and by proposals that a person wrote. A date that the
  /// disk cannot store does not abort the restore.
  static void set_time(const Descriptor& file, timespec modified) {
    const std::array times{timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, modified};
    ::futimens(file.get(), times.data());
  }

  static void put(const Descriptor& file, std::string_view bytes, const fs::path& place) {
    while (!bytes.empty()) {
      const auto written = ::write(file.get(), bytes.data(), bytes.size());
      if (written < 0) throw_errno("cannot write " + place.string());
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// Checks the free space, because a few bytes can expand to any size.
  void check_space(std::uint64_t wanted) const {
    struct statvfs status{};
    if (::statvfs(target_.c_str(), &status) != 0) return;
    const std::uint64_t free = status.f_bavail * status.f_frsize;
    if (wanted <= free && free - wanted >= space_left_free) return;
    refuse(fmt::format("there is not enough space on the disk: {} MiB are free, and {} MiB must remain", free >> 20,
                       space_left_free >> 20));
  }

  const fs::path& archive_;
  const fs::path& target_;
  ArchiveReader reader_;
  std::int64_t count_ = 0;
};

}  // namespace

void unpack_backup(const fs::path& archive, const fs::path& target) {
  try {
    BackupUnpacker(archive, target).run();
  } catch (const ArchiveError& error) {
    refuse(one_line(error.what()) + what_to_do);
  }
}

}  // namespace agw::cli
