#include "cli/transfer/byte_source.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "io/files/archive.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = 256 * 1024;
constexpr std::size_t max_files = 100'000;

bool is_archive(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(265, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06") || head.starts_with("\x28\xb5\x2f\xfd") ||
         (head.size() > 262 && head.compare(257, 5, "ustar") == 0);
}

void for_each_entry(const fs::path& path, const std::function<void(const ExportedFile&)>& each) {
  ArchiveReader archive(path, ArchiveReader::Formats::zip_too);
  ArchiveReader::Entry entry;
  for (std::size_t count = 0; archive.next(entry); ++count) {
    if (count >= max_files) throw std::runtime_error(path.string() + ": contains more than 100,000 files");
    if (entry.kind != ArchiveReader::Kind::file) continue;
    each({entry.path, entry.size, [&archive] { return archive.read(); }});
  }
}

void for_each_in_folder(const fs::path& folder, const std::function<void(const ExportedFile&)>& each) {
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_symlink()) {
      if (entry->is_directory()) entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_regular_file()) files.push_back(entry->path());
    if (files.size() > max_files) throw std::runtime_error(folder.string() + ": contains more than 100,000 files");
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    each({file.lexically_relative(folder).string(), fs::file_size(file), bytes_of_file(file)});
  }
}

}  // namespace

ByteSource bytes_of_file(const fs::path& path) {
  struct Opened {
    fs::path path;
    std::ifstream file;
    std::string buffer;
  };
  auto opened = std::make_shared<Opened>();
  opened->path = path;
  return [opened]() -> std::string_view {
    if (opened->buffer.empty()) {
      if (!fs::is_regular_file(opened->path)) throw std::runtime_error(opened->path.string() + ": is not a file");
      opened->file.open(opened->path, std::ios::binary);
      if (!opened->file) throw std::runtime_error(opened->path.string() + ": cannot be read");
      opened->buffer.resize(piece);
    }
    opened->file.read(opened->buffer.data(), static_cast<std::streamsize>(piece));
    if (opened->file.bad()) throw std::runtime_error(opened->path.string() + ": cannot be read");
    return std::string_view(opened->buffer).substr(0, static_cast<std::size_t>(opened->file.gcount()));
  };
}

void for_each_file(const fs::path& path, const std::function<void(const ExportedFile&)>& each) {
  if (fs::is_directory(path)) return for_each_in_folder(path, each);
  if (!fs::is_regular_file(path)) throw std::runtime_error(path.string() + ": there is no such file or folder");
  if (is_archive(path)) return for_each_entry(path, each);
  each({path.filename().string(), fs::file_size(path), bytes_of_file(path)});
}

}  // namespace agw::cli
