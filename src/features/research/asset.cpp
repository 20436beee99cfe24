#include "features/research/asset.hpp"

#include <fmt/format.h>
#include <stdexcept>

#include "base/json.hpp"
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

bool restore_asset(const fs::path& path, const AssetCopy& original) {
  fs::create_directories(path.parent_path());
  const auto now = directory_of(path).read(path.filename().string(), original.bytes.size());
  if (now && *now == original.bytes) return false;
  write_asset(path, original);
  return true;
}

void restore_asset_and_keep(const fs::path& path, const AssetCopy& original, const fs::path& kept) {
  fs::create_directories(path.parent_path());
  const auto now = directory_of(path).read(path.filename().string(), longest_asset);
  if (now && *now != original.bytes) {
    fs::create_directories(kept.parent_path());
    replace_file(kept, *now, 0600);
  }
  restore_asset(path, original);
}

}  // namespace agw
