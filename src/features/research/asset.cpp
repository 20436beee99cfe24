#include "features/research/asset.hpp"

#include <fmt/format.h>
#include <stdexcept>

#include "base/json.hpp"
#include "base/log.hpp"
#include "io/atomic_file.hpp"
#include "io/beneath.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

Directory directory_of(const fs::path& path) {
  auto root = Directory::open("/", Symlinks::refuse).value();
  const auto parent = path.parent_path().relative_path().string();
  auto opened = root.directory(parent.empty() ? "." : parent);
  if (!opened) fail(path.parent_path(), to_string(opened.error()));
  return std::move(*opened);
}

}  // namespace

AssetCopy read_asset(const fs::path& path) {
  const auto directory = directory_of(path);
  const auto name = path.filename().string();
  const auto status = directory.status(name);
  if (!status) fail(path, to_string(status.error()));
  auto bytes = directory.read(name, longest_asset);
  if (!bytes) fail(path, to_string(bytes.error()));
  if (!is_utf8(*bytes)) fail(path, "not a text in UTF-8");
  return {std::move(*bytes), status->mode};
}

void write_asset(const fs::path& path, const AssetCopy& copy) {
  if (const auto written = directory_of(path).write(path.filename().string(), copy.bytes, copy.mode); !written) {
    fail(path, to_string(written.error()));
  }
}

void restore_asset_and_keep(const fs::path& path, const AssetCopy& original, const fs::path& kept) {
  fs::create_directories(path.parent_path());
  const auto now = directory_of(path).read(path.filename().string(), longest_asset);
  if (now && *now == original.bytes) return;
  if (now || now.error() != FileError::not_found) {
    fs::create_directories(kept.parent_path());
    if (now)
      replace_file(kept, *now, 0600);
    else
      fs::rename(path, kept);
    log::info("{} is put back; what was there instead is {}", path.string(), kept.string());
  }
  write_asset(path, original);
}

bool put_asset_back(const fs::path& path, const AssetCopy& original, const AssetTrace& trace) {
  fs::create_directories(path.parent_path());
  const auto now = directory_of(path).read(path.filename().string(), longest_asset);
  if (now && *now == original.bytes) return true;
  const bool is_gone = !now && now.error() == FileError::not_found;
  const bool is_as_left = now && *now == trace.left;
  if (is_gone || (is_as_left && !trace.is_unclear)) {
    write_asset(path, original);
  } else if (is_as_left || trace.may_differ) {
    restore_asset_and_keep(path, original, trace.kept);
  } else {
    return false;
  }
  return true;
}

}  // namespace agw
