#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "io/files/descriptor.hpp"

namespace agw {

/// A problem with an archive, for people.
class ArchiveError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Writes files into a tar archive compressed with zstd. Flushes its output to disk in small pieces, so that other
/// writers are not delayed. All functions throw ArchiveError. Blocks.
class ArchiveWriter {
public:
  /// `file` must be open for writing and outlive the writer.
  explicit ArchiveWriter(const Descriptor& file);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  void add(const std::string& path, std::string_view content);
  /// Adds an open file. If its size changes while it is added, its content is truncated or padded with zeros to the
  /// initial size.
  void add(const std::string& path, const Descriptor& file);
  void add_directory(const std::string& path);
  /// The SHA-256 in hex over path, size and content of all entries so far.
  std::string digest() const;
  /// Writes the end of the archive. Without this call the archive is incomplete.
  void finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a tar archive compressed with zstd. Does not validate paths; the caller must. All functions throw ArchiveError
/// if the data is damaged or not an archive. Blocks.
class ArchiveReader {
public:
  enum class Kind { file, directory, other };
  struct Entry {
    std::string path;
    Kind kind = Kind::other;
    std::uint64_t size = 0;              ///< bytes
    mode_t mode = 0;                     ///< permission bits
    std::optional<timespec> modified{};  ///< time of the last modification of the content
  };

  /// The accepted formats: the writer's own, or also those of archives by other programs, or a file that is not an
  /// archive, compressed or not, which is the only entry.
  enum class Formats { tar_zst, zip_too, one_file };

  explicit ArchiveReader(const std::filesystem::path& path, Formats formats = Formats::tar_zst);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Advances to the next entry; false at the end.
  bool next(Entry& entry);
  /// The next bytes of the entry's content; empty at its end. The view is valid until the next call.
  std::string_view read();
  /// The value of ArchiveWriter::digest() before the current entry, provided that all previous entries were read to
  /// their ends and are intact.
  const std::string& digest_before() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace agw
