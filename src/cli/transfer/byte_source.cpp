#include "cli/transfer/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "io/files/archive.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = 256 * 1024;
constexpr std::size_t max_files = 100'000;
constexpr std::string_view zstd_extension = ".zst";

bool is_archive(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(265, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06") || head.starts_with("\x28\xb5\x2f\xfd") ||
         (head.size() > 262 && head.compare(257, 5, "ustar") == 0);
}

void for_each_entry_of(ArchiveReader& archive, const fs::path& path,
                       const std::function<void(const ExportedFile&)>& each) {
  ArchiveReader::Entry entry;
  for (std::size_t count = 0; archive.next(entry); ++count) {
    if (count >= max_files) throw std::runtime_error(path.string() + ": contains more than 100,000 files");
    if (entry.kind != ArchiveReader::Kind::file) continue;
    each({entry.path, entry.size, [&archive] { return archive.read(); }});
  }
}

void for_each_entry(const fs::path& path, const std::function<void(const ExportedFile&)>& each) {
  ArchiveReader archive(path, ArchiveReader::Formats::zip_too);
  try {
    for_each_entry_of(archive, path, each);
  } catch (const ArchiveError& error) {
    throw ArchiveError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

bool is_below(const fs::path& path, const fs::path& root) {
  std::error_code failed;
  const auto from_root = path.lexically_relative(fs::canonical(root, failed));
  return !failed && !from_root.empty() && *from_root.begin() != "..";
}

/// Why an entry of an export's folder is skipped; empty for a file to read or a folder to enter.
std::string why_passed_over(const fs::directory_entry& entry, const fs::path& folder) {
  std::error_code ignored;
  if (!entry.is_directory(ignored)) return why_unread(entry.path(), {folder});
  return entry.is_symlink(ignored) ? "is a symlink to a folder" : "";
}

void for_each_below(const fs::path& folder,
                    const std::function<void(const fs::directory_entry& entry, std::string why)>& each) {
  // Symlinks to folders are not followed, so there are no loops.
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    each(entry, why_passed_over(entry, folder));
    if (++count > max_files) throw std::runtime_error(folder.string() + ": contains more than 100,000 files");
  }
}

void for_each_in_folder(const fs::path& folder, const std::function<void(const ExportedFile&)>& each) {
  std::vector<fs::path> files;
  for_each_below(folder, [&](const fs::directory_entry& entry, const std::string& why) {
    if (why.empty() && entry.is_regular_file()) files.push_back(entry.path());
  });
  std::ranges::sort(files);
  for (const auto& file : files) {
    each({file.lexically_relative(folder).string(), fs::file_size(file), bytes_of_file(file)});
  }
}

/// Opens a regular file without blocking if it is anything else.
Descriptor opened_file(const fs::path& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) throw std::runtime_error(path.string() + ": cannot be read");
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(path.string() + ": is not a file");
  return file;
}

}  // namespace

std::string why_no_file(const fs::path& path) {
  std::error_code failed;
  const auto type = fs::status(path, failed).type();
  if (type == fs::file_type::regular) return {};
  if (type != fs::file_type::not_found) return failed ? failed.message() : "is no regular file";
  return fs::is_symlink(path, failed) ? "is a symlink to nothing" : "";
}

std::string why_outside(const fs::path& path, std::initializer_list<fs::path> roots) {
  std::error_code failed;
  if (!fs::is_symlink(path, failed)) return {};
  const auto target = fs::canonical(path, failed);
  const bool stays = std::ranges::any_of(roots, [&](const auto& root) { return is_below(target, root); });
  return stays ? std::string() : fmt::format("is a symlink that leads out of the directory, to {}", target.string());
}

std::string why_unread(const fs::path& path, std::initializer_list<fs::path> roots) {
  auto why = why_no_file(path);
  return why.empty() ? why_outside(path, roots) : why;
}

ByteSource bytes_of_file(const fs::path& path) {
  struct Opened {
    fs::path path;
    Descriptor file{};
    std::string buffer{};
  };
  auto opened = std::make_shared<Opened>(path);
  return [opened]() -> std::string_view {
    if (!opened->file) {
      opened->file = opened_file(opened->path);
      opened->buffer.resize(piece);
    }
    const auto count = read(opened->file.get(), opened->buffer.data(), piece);
    if (count < 0) throw std::runtime_error(opened->path.string() + ": cannot be read");
    return std::string_view(opened->buffer).substr(0, static_cast<std::size_t>(count));
  };
}

ByteSource unpacked_bytes_of_file(const fs::path& path) {
  if (path.extension() != zstd_extension) return bytes_of_file(path);
  return [path, archive = std::shared_ptr<ArchiveReader>()]() mutable -> std::string_view {
    if (archive) return archive->read();
    archive = std::make_shared<ArchiveReader>(path, ArchiveReader::Formats::one_file);
    ArchiveReader::Entry entry;
    return archive->next(entry) ? archive->read() : std::string_view();
  };
}

bool has_extension(const fs::path& path, std::string_view extension) {
  return (path.extension() == zstd_extension ? path.stem() : path).extension() == extension;
}

std::vector<std::pair<std::string, std::string>> unread_in(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> unread;
  for_each_below(folder, [&](const fs::directory_entry& entry, std::string why) {
    if (!why.empty()) unread.emplace_back(entry.path().string(), std::move(why));
  });
  return unread;
}

void for_each_file(const fs::path& path, const std::function<void(const ExportedFile&)>& each) {
  if (fs::is_directory(path)) return for_each_in_folder(path, each);
  if (!fs::is_regular_file(path)) throw std::runtime_error(path.string() + ": there is no such file or folder");
  if (is_archive(path)) return for_each_entry(path, each);
  each({path.filename().string(), fs::file_size(path), bytes_of_file(path)});
}

}  // namespace agw::cli
