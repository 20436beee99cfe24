#include "io/files/archive.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "io/files/libarchive.hpp"
#include "io/files/paced_writeback.hpp"

namespace agw {

namespace {

constexpr std::size_t piece = 1 << 20;
constexpr off64_t bytes_between_flushes = 1 << 20;
constexpr mode_t private_file = 0600;
constexpr mode_t private_directory = 0700;

const Libarchive& library() { return Libarchive::get(); }

[[noreturn]] void fail(struct archive* archive, std::string_view action) {
  const char* why = library().error_string(archive);
  throw ArchiveError(std::string(action) + ": " + (why ? why : "it is damaged"));
}

using EntryPointer = std::unique_ptr<struct archive_entry, decltype(&::archive_entry_free)>;

EntryPointer make_entry(const std::string& path, mode_t type, mode_t mode, std::int64_t size, timespec time) {
  AGW_ASSERT(!path.empty() && path.front() != '/' && size >= 0);
  EntryPointer entry(library().entry_new(), library().entry_free);
  library().entry_set_pathname(entry.get(), path.c_str());
  library().entry_set_filetype(entry.get(), type);
  library().entry_set_perm(entry.get(), mode);
  library().entry_set_size(entry.get(), size);
  library().entry_set_mtime(entry.get(), time.tv_sec, time.tv_nsec);
  return entry;
}

timespec now() { return {.tv_sec = std::time(nullptr), .tv_nsec = 0}; }

/// The SHA-256 over path, size and content of successive entries.
class Digest {
public:
  void take_entry(std::string_view path, std::uint64_t size) {
    take(path);
    take(fmt::format("\n{}\n", size));
  }
  void take(std::string_view bytes) { sha256_.update(bytes); }

  /// The digest of all bytes so far, in hex.
  std::string text() const { return to_hex(sha256_.digest()); }

private:
  Sha256 sha256_;
};

}  // namespace

struct ArchiveWriter::State {
  explicit State(const Descriptor& output) : file(output) {
    // The restricted format would omit fractions of seconds.
    library().write_set_format_pax(archive.get());
    // Treats names as bytes, independent of the locale.
    const auto chosen = library().write_set_format_option(archive.get(), "pax", "hdrcharset", "BINARY");
    if (chosen != ARCHIVE_OK) fail(archive.get(), "cannot write the archive");
    if (library().write_add_filter_zstd(archive.get()) != ARCHIVE_OK) fail(archive.get(), "cannot compress");
    // Padding after the end, as used for tapes, would not be valid zstd.
    library().write_set_bytes_in_last_block(archive.get(), 1);
    const auto opened = library().write_open2(archive.get(), this, nullptr, &State::write, nullptr, nullptr);
    if (opened != ARCHIVE_OK) fail(archive.get(), "cannot write the archive");
  }

  static la_ssize_t write(struct archive* archive, void* self, const void* bytes, std::size_t size) {
    auto& state = *static_cast<State*>(self);
    const auto written = ::write(state.file.get(), bytes, size);
    if (written < 0) library().set_error(archive, errno, "%s", std::generic_category().message(errno).c_str());
    state.bytes_written += std::max<la_ssize_t>(written, 0);
    if (state.bytes_written >= state.flush_at) {
      state.writeback.advance(state.bytes_written);
      state.flush_at = state.bytes_written + bytes_between_flushes;
    }
    return written;
  }

  void begin(const EntryPointer& entry) {
    AGW_ASSERT(archive && entry);
    const auto size = static_cast<std::uint64_t>(library().entry_size(entry.get()));
    digest.take_entry(library().entry_pathname(entry.get()), size);
    if (library().write_header(archive.get(), entry.get()) != ARCHIVE_OK)
      fail(archive.get(), "cannot write the archive");
  }
  void put(std::string_view bytes) {
    AGW_ASSERT(archive);
    digest.take(bytes);
    if (library().write_data(archive.get(), bytes.data(), bytes.size()) < 0)
      fail(archive.get(), "cannot write the archive");
  }

  const Descriptor& file;
  std::unique_ptr<struct archive, decltype(&::archive_write_free)> archive{library().write_new(), library().write_free};
  Digest digest;
  PacedWriteback writeback{file};
  off64_t bytes_written = 0;
  off64_t flush_at = bytes_between_flushes;
};

ArchiveWriter::ArchiveWriter(const Descriptor& file) : state_(std::make_unique<State>(file)) {}

ArchiveWriter::~ArchiveWriter() {
  // Without `finish`, the rest must not be written.
  if (state_->archive) library().write_fail(state_->archive.get());
}

void ArchiveWriter::add(const std::string& path, std::string_view content) {
  const auto size = static_cast<std::int64_t>(content.size());
  state_->begin(make_entry(path, AE_IFREG, private_file, size, now()));
  state_->put(content);
}

void ArchiveWriter::add(const std::string& path, const Descriptor& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw ArchiveError(path + ": cannot be looked at");
  state_->begin(make_entry(path, AE_IFREG, status.st_mode & private_directory, status.st_size, status.st_mtim));
  std::vector<char> buffer(piece);
  for (auto left = static_cast<std::uint64_t>(status.st_size); left > 0;) {
    const auto got = ::read(file.get(), buffer.data(), std::min<std::uint64_t>(buffer.size(), left));
    if (got < 0) throw ArchiveError(path + ": cannot be read: " + std::generic_category().message(errno));
    // Pads a file that has become shorter with zeros.
    const auto count = got > 0 ? static_cast<std::size_t>(got) : std::min<std::uint64_t>(buffer.size(), left);
    if (got == 0) std::ranges::fill(buffer, '\0');
    state_->put({buffer.data(), count});
    AGW_ASSERT(count > 0 && count <= left);
    left -= count;
  }
}

void ArchiveWriter::add_directory(const std::string& path) {
  state_->begin(make_entry(path, AE_IFDIR, private_directory, 0, now()));
}

std::string ArchiveWriter::digest() const { return state_->digest.text(); }

void ArchiveWriter::finish() {
  AGW_DEBUG_ASSERT(may_block());

  if (library().write_close(state_->archive.get()) != ARCHIVE_OK)
    fail(state_->archive.get(), "cannot write the archive");
  if (::fsync(state_->file.get()) != 0)
    throw ArchiveError("cannot write the archive: " + std::generic_category().message(errno));
}

struct ArchiveReader::State {
  std::unique_ptr<struct archive, decltype(&::archive_read_free)> archive{library().read_new(), library().read_free};
  std::vector<char> buffer = std::vector<char>(piece);
  Digest digest;
  std::string digest_before;  ///< over the entries before the current one
};

ArchiveReader::ArchiveReader(const std::filesystem::path& path, Formats formats) : state_(std::make_unique<State>()) {
  auto* archive = state_->archive.get();
  const auto support =
      formats == Formats::one_file ? library().read_support_format_raw : library().read_support_format_tar;
  support(archive);
  if (formats == Formats::zip_too) library().read_support_format_zip(archive);
  library().read_support_filter_zstd(archive);
  if (library().read_open_filename(archive, path.c_str(), piece) != ARCHIVE_OK) fail(archive, path.string());
}

ArchiveReader::~ArchiveReader() = default;

bool ArchiveReader::next(Entry& entry) {
  AGW_DEBUG_ASSERT(may_block());

  struct archive_entry* found = nullptr;
  const int code = library().read_next_header(state_->archive.get(), &found);
  if (code == ARCHIVE_EOF) return false;
  // A warning means that the locale cannot represent the name, which is used unchanged.
  if (code != ARCHIVE_OK && code != ARCHIVE_WARN) fail(state_->archive.get(), "the archive cannot be read");
  const char* path = library().entry_pathname(found);
  const bool is_link = library().entry_hardlink(found) || library().entry_symlink(found);
  const auto type = library().entry_filetype(found);
  entry.path = path ? path : "";
  entry.kind = is_link ? Kind::other : type == AE_IFREG ? Kind::file : type == AE_IFDIR ? Kind::directory : Kind::other;
  entry.size = static_cast<std::uint64_t>(std::max<std::int64_t>(library().entry_size(found), 0));
  entry.mode = library().entry_perm(found);
  entry.modified.reset();
  if (library().entry_mtime_is_set(found)) {
    entry.modified = {.tv_sec = library().entry_mtime(found), .tv_nsec = library().entry_mtime_nsec(found)};
  }
  state_->digest_before = state_->digest.text();
  state_->digest.take_entry(entry.path, entry.size);
  return true;
}

std::string_view ArchiveReader::read() {
  AGW_DEBUG_ASSERT(may_block());

  auto& buffer = state_->buffer;
  const auto got = library().read_data(state_->archive.get(), buffer.data(), buffer.size());
  if (got < 0) fail(state_->archive.get(), "the archive cannot be read");
  AGW_ASSERT(static_cast<std::size_t>(got) <= buffer.size());
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  state_->digest.take(bytes);
  return bytes;
}

const std::string& ArchiveReader::digest_before() const { return state_->digest_before; }

}  // namespace agw
