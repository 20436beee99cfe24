#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw::cli {

/// An extension on disk.
struct ExtensionPackage {
  json::object body;               ///< of `POST /extensions`
  std::filesystem::path folder;    ///< its folder; empty for a single file
  std::vector<std::string> files;  ///< the other files in the folder, relative to it
};

/// Reads a JSON or YAML file, `-` for stdin, or a folder that contains one named after a type (`agent.yaml`,
/// `job.json`, …). It has the members of `POST /extensions`, or is flat like the gateway's own files: `name`,
/// `description`, `enabled`, `trigger`, and the members of the definition. Throws std::runtime_error that names an
/// unreadable file; symlinks and special files in a folder are rejected.
ExtensionPackage read_extension_package(const std::filesystem::path& path);

/// The body of `POST /extensions` for a document. `stem` is its file name without the extension, which specifies the
/// type if it is the name of a type.
json::object extension_body(json::object document, std::string_view stem);

/// One of the other files of a package.
struct PackageFile {
  std::string path;
  std::string content;
  mode_t mode;
};

/// Calls `each` for the other files. Throws std::runtime_error if one cannot be read, or if they are too large.
void for_each_file(const ExtensionPackage& package, const std::function<void(const PackageFile& file)>& each);

/// Copies the files of `package` to `target`, the extension's directory. Throws std::runtime_error, std::system_error.
void copy_files(const ExtensionPackage& package, const std::filesystem::path& target);

/// A record as YAML for `agw ext add`, with its other properties as comments above. Control characters are not escaped
/// yet.
std::string extension_text(const json::object& record);

/// The same with only the members that a person can change, after the lines of `head`.
std::string editable_text(const json::object& record, const std::string& head);

}  // namespace agw::cli
