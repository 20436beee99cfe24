#include "features/extensions/files.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/is_within.hpp"
#include "features/extensions/extension_text.hpp"
#include "features/extensions/service.hpp"

namespace agw {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_files = 10'000;
/// Limit per directory. All entries are read and sorted before the list is truncated, so that every list shows the same
/// ones.
constexpr std::size_t max_entries = 1'000'000;
constexpr std::size_t max_file_size = 5 << 20;

/// `path` relative to `root`; empty unless `path` is below it.
fs::path beneath(const fs::path& root, const fs::path& path) {
  const auto relative = path.lexically_relative(root);
  const bool is_beneath = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return is_beneath ? relative : fs::path();
}

/// Whether the directory of an app may be shown. `real` is its resolved path.
bool may_be_shown(const fs::path& real, const fs::path& home, const fs::path& data_directory) {
  const bool around = real == data_directory || !beneath(real, data_directory).empty();
  if (around) return false;
  if (const auto own = beneath(data_directory, real); !own.empty()) return *own.begin() == "agents";
  const auto relative = beneath(home, real);
  return !relative.empty() && !has_hidden_part(relative);
}

[[noreturn]] void refuse(FileError error) {
  switch (error) {
    case FileError::outside:
      throw path_traversal();
    case FileError::too_large:
      throw file_too_large();
    case FileError::permission:
      throw permission_denied();
    default:
      throw file_not_found();
  }
}

bool leaves(const std::string& path) {
  const auto normal = fs::path(path).lexically_normal();
  return normal.is_absolute() || (!normal.empty() && *normal.begin() == "..");
}

ExtensionFile read_file(const Directory& directory, const std::string& path) {
  auto content = directory.read(path, max_file_size);
  if (!content) refuse(content.error());
  const auto status = directory.status(path);
  if (!status) refuse(status.error());
  ExtensionFile file{.path = path, .content = *std::move(content), .modified_at = status->modified_at};
  file.encoding = is_utf8(file.content) ? FileEncoding::utf_8 : FileEncoding::base64;
  file.size = static_cast<std::int64_t>(file.content.size());
  return file;
}

/// Logs the cause, which clients must not see.
ApiError unreadable(const fs::path& path, FileError error) {
  log::error("{}: {}", path.string(), to_string(error));
  return {500, directory_unreadable};
}

/// Breadth first, so that a deep branch does not hide its siblings.
std::vector<ExtensionFileEntry> walk(const Directory& root) {
  std::vector<ExtensionFileEntry> found;
  std::vector<std::string> level{""};
  while (!level.empty() && found.size() < max_files) {
    std::vector<std::string> next;
    for (const auto& path : level) {
      const auto listed = root.list(path.empty() ? "." : path, max_entries);
      if (!listed && path.empty()) throw unreadable(root.real_path(), listed.error());
      if (!listed) continue;
      for (const auto& entry : *listed) {
        if (found.size() == max_files) break;
        const bool is_directory = entry.type == FileType::directory;
        auto name = path.empty() ? entry.name : path + "/" + entry.name;
        if (is_directory) next.push_back(name);
        found.push_back({to_utf8(name), is_directory});
      }
    }
    level = std::move(next);
  }
  std::ranges::sort(found, {}, &ExtensionFileEntry::name);
  return found;
}

json::object read_config(const Directory& directory, const Extension& record, const std::string& path) {
  const auto name_of = [&](const std::string& file) { return file.substr(path.size() + 1); };
  const auto config = directory.read(name_of(config_path(path)), max_extension_file_length);
  if (!config) refuse(config.error());
  std::optional<std::string> prompt;
  if (const auto text = directory.read(name_of(prompt_path(path)), max_extension_file_length); text) prompt = *text;
  try {
    if (prompt && !is_utf8(*prompt)) throw YamlError(1, "prompt.md is not UTF-8");
    return flat_members(record.type, *config, prompt, &record);
  } catch (const YamlError& error) {
    fail_validation({{.path = config_path(path), .message = error.what()}});
  }
}

ExtensionFiles::Opened open_own(const fs::path& data_directory, const std::string& path) {
  auto directory = Directory::open(data_directory).value().directory(path);
  if (!directory) return {data_directory / path, nullptr, directory.error()};
  return {data_directory / path, std::make_shared<const Directory>(*std::move(directory))};
}

BadRequest no_disk_path() { return BadRequest("extension has no disk path"); }

ExtensionFiles::Opened open_of_app(const fs::path& path, const fs::path& home, const fs::path& data_directory) {
  auto directory = Directory::open(path);
  // Checks the opened directory, because its path may have been replaced in between.
  if (!directory || !may_be_shown(directory->real_path(), home, data_directory)) {
    throw no_disk_path();
  }
  return {path, std::make_shared<const Directory>(*std::move(directory))};
}

}  // namespace

ExtensionFiles::ExtensionFiles(Loop& loop, Extensions& extensions, fs::path home, fs::path data_directory)
    : extensions_(extensions), home_(std::move(home)), data_directory_(std::move(data_directory)), pool_(loop) {}

Task<ExtensionFiles::Opened> ExtensionFiles::open(std::string id_or_name) {
  const auto extension = extensions_.require(id_or_name);
  if (is_file_backed(extension->type)) {
    const auto directory = directory_of(extension->type, extension->name);
    co_return co_await extensions_.disk().run(
        [data = data_directory_, directory] { return open_own(data, directory); });
  }
  const auto path = extension->type == ExtensionType::app
                        ? string_member(extension->definition.members(), "path").value_or("")
                        : std::string_view();
  if (!path.starts_with('/') || path.find('\0') != path.npos) throw no_disk_path();
  co_return co_await pool_.run(
      [path = fs::path(path), home = home_, data = data_directory_] { return open_of_app(path, home, data); });
}

Task<ExtensionFileList> ExtensionFiles::list(Opened opened) {
  if (!opened.directory) throw unreadable(opened.path, opened.why_not);
  co_return co_await pool_.run([opened = std::move(opened)] {
    return ExtensionFileList{to_utf8(opened.path.native()), walk(*opened.directory)};
  });
}

Task<ExtensionFile> ExtensionFiles::read(Opened opened, std::string path) {
  if (leaves(path)) refuse(FileError::outside);
  if (!opened.directory) refuse(opened.why_not);
  co_return co_await pool_.run(
      [opened = std::move(opened), path = std::move(path)] { return read_file(*opened.directory, path); });
}

ExtensionPointer ExtensionFiles::require_config(const std::string& id_or_name) const {
  auto extension = extensions_.require(id_or_name);
  if (is_file_backed(extension->type)) return extension;
  throw BadRequest(fmt::format("disk-config not supported for type '{}'", to_text(extension->type)));
}

Task<json::object> ExtensionFiles::config(std::string id_or_name) {
  const auto extension = require_config(id_or_name);
  const auto opened = co_await open(extension->id);
  if (!opened.directory) refuse(opened.why_not);
  co_return co_await pool_.run([directory = opened.directory, extension] {
    return read_config(*directory, *extension, directory_of(extension->type, extension->name));
  });
}

Task<json::object> ExtensionFiles::overwrite(ExtensionPointer extension, json::object flat) {
  co_return flat_members(*co_await extensions_.overwrite(extension->id, std::move(flat)));
}

ExtensionFile encoded(ExtensionFile file) {
  if (file.encoding == FileEncoding::utf_8) return file;
  const auto& bytes = file.content;
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  file.content = std::move(text);
  return file;
}

}  // namespace agw
