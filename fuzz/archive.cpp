// Archives of other programs and backups: tar, zip and zstd. They are read to the end, or reported as damaged.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include "fuzz/support/fuzzing.hpp"
#include "io/files/archive.hpp"
#include "io/files/zstd.hpp"

namespace {

constexpr std::size_t limit = 1 << 20;

void read(const std::string& path, agw::ArchiveReader::Formats formats) {
  try {
    agw::ArchiveReader reader(path, formats);
    std::size_t bytes = 0;
    for (agw::ArchiveReader::Entry entry; bytes < limit && reader.next(entry);) {
      agw::fuzzing::require(entry.path.find('\0') == entry.path.npos);
      for (auto piece = reader.read(); !piece.empty() && bytes < limit; piece = reader.read()) bytes += piece.size();
      ++bytes;
    }
  } catch (const agw::ArchiveError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const agw::Descriptor file(::memfd_create("archive", MFD_CLOEXEC));
  agw::fuzzing::require(::write(file.get(), data, size) == static_cast<ssize_t>(size));
  const auto path = fmt::format("/proc/self/fd/{}", file.get());
  read(path, agw::ArchiveReader::Formats::tar_zst);
  read(path, agw::ArchiveReader::Formats::zip_too);
  const auto content = agw::zstd_decompressed(agw::fuzzing::text_of(data, size), limit);
  agw::fuzzing::require(!content || content->size() <= limit);
  return 0;
}
