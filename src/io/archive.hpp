#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "io/descriptor.hpp"

namespace agw {

/// What is wrong with an archive, for people.
class ArchiveError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Writes files one after the other into a tar archive, compressed with zstd. What it wrote is put on disk in small
/// pieces, so that others who write there are not held up. Everything throws ArchiveError. Blocks.
class ArchiveWriter {
public:
  /// `file` is open for writing and must outlive this.
  explicit ArchiveWriter(const Descriptor& file);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  void add(const std::string& path, std::string_view content);
  /// The open file as it is now. One that grows or shrinks meanwhile has the size that it had at first: cut off, or
  /// filled up with zeros.
  void add(const std::string& path, const Descriptor& file);
  void add_directory(const std::string& path);
  /// SHA-256 of the entries so far, in hexadecimal: of each its path, its size, its content.
  std::string digest() const;
  /// Writes the end; without it the archive is not whole.
  void finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads such an archive. Whatever its bytes say, it only answers what stands in it: what is done with a path is for
/// the caller to judge. Everything throws ArchiveError for what is damaged or no archive. Blocks.
class ArchiveReader {
public:
  enum class Kind { file, directory, other };
  struct Entry {
    std::string path;
    Kind kind = Kind::other;
    std::uint64_t size = 0;              ///< bytes
    mode_t mode = 0;                     ///< permission bits
    std::optional<timespec> modified{};  ///< when its content was written
  };

  explicit ArchiveReader(const std::filesystem::path& path);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Goes on to the next entry; false at the end.
  bool next(Entry& entry);
  /// The next bytes of the entry's content; empty at its end. The view lives until the next call.
  std::string_view read();
  /// What ArchiveWriter::digest() said before the current entry, if those before it were read to their ends and are as
  /// they were.
  const std::string& digest_before() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace agw
