#include "features/research/asset.hpp"

#include <fmt/format.h>
#include <stdexcept>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/directory.hpp"
#include "io/files/entry_state.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

Directory directory_of(const fs::path& path) {
  AGW_ASSERT(path.is_absolute());
  auto root = Directory::open("/", Symlinks::refuse).value();
  const auto parent = path.parent_path().relative_path().string();
  auto opened = root.directory(parent.empty() ? "." : parent);
  if (!opened) fail(path.parent_path(), to_string(opened.error()));
  return std::move(*opened);
}

/// Returns `wanted`, or with a number as suffix if it exists.
fs::path free_place(const fs::path& wanted) {
  auto place = wanted;
  for (int number = 2; fs::exists(fs::symlink_status(place)); ++number) {
    place = fmt::format("{}-{}", wanted.string(), number);
  }
  return place;
}

/// Removes the original only after everything was copied.
void copy_and_remove(const fs::path& path, const fs::path& kept) {
  try {
    fs::copy(path, kept, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  } catch (const fs::filesystem_error&) {
    std::error_code ignored;
    fs::remove_all(kept, ignored);
    throw;
  }
  fs::remove_all(path);
}

/// Moves a file or directory to `kept`, also between file systems. Returns its new path.
fs::path move_away(const fs::path& path, const fs::path& kept) {
  std::error_code error;
  fs::rename(path, kept, error);
  if (!error) return kept;
  if (error != std::errc::cross_device_link) throw fs::filesystem_error("cannot move", path, kept, error);
  // A killed gateway may have left a copy at `kept` and removed part of the original, so that copy must stay.
  const auto place = free_place(kept);
  copy_and_remove(path, place);
  return place;
}

/// Keeps a changed version of the asset at `kept`. `now` is its content, if readable.
void keep(const fs::path& path, const FileResult<std::string>& now, fs::path kept) {
  AGW_ASSERT(kept.is_absolute());
  AGW_ASSERT(kept != path);
  fs::create_directories(kept.parent_path());
  if (now)
    replace_file(kept, *now, 0600);
  else
    kept = move_away(path, kept);
  log::info("{} is restored; its changed content is kept as {}", path.string(), kept.string());
}

}  // namespace

AssetCopy read_asset(const fs::path& path) {
  AGW_DEBUG_ASSERT(may_block());

  const auto directory = directory_of(path);
  const auto name = path.filename().string();
  const auto status = directory.status(name);
  if (!status) fail(path, to_string(status.error()));
  auto bytes = directory.read(name, max_asset_length);
  if (!bytes) fail(path, to_string(bytes.error()));
  if (!is_utf8(*bytes)) fail(path, "not a text in UTF-8");
  return {std::move(*bytes), status->mode};
}

void write_asset(const fs::path& path, const AssetCopy& copy) {
  AGW_DEBUG_ASSERT(may_block());

  if (const auto written = directory_of(path).write(path.filename().string(), copy.bytes, copy.mode); !written) {
    fail(path, to_string(written.error()));
  }
}

bool put_asset_back(const fs::path& path, const AssetCopy& original, const AssetTrace& trace) {
  AGW_DEBUG_ASSERT(may_block());

  fs::create_directories(path.parent_path());
  const auto directory = directory_of(path);
  const auto name = path.filename().string();
  const auto stamp = directory.stamp(name);
  const auto now = directory.read(name, max_asset_length);
  if (now && *now == original.bytes) return true;
  const bool is_gone = !now && now.error() == FileError::not_found;
  const bool is_as_left = now && *now == trace.left;
  if (!is_gone && !is_as_left && !trace.may_differ) return false;
  if (now && !stamp) return false;
  if (!is_gone && (!is_as_left || trace.is_unclear)) keep(path, now, trace.kept);
  const EntryState wanted{
      .kind = EntryKind::file, .mode = original.mode, .has_content = true, .content = original.bytes};
  // Replaces the file only if its stamp is unchanged. An unreadable file was moved away above.
  return put_entry(directory.descriptor(), name, wanted, now ? *stamp : FileStamp(), path);
}

}  // namespace agw
