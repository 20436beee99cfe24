#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace agw::cli {

/// An extension as somebody has it on disk.
struct ExtensionPackage {
  json::object body;               ///< of `POST /extensions`
  std::filesystem::path folder;    ///< where it came from; empty for a single file
  std::vector<std::string> files;  ///< what else is in the folder, relative to it
};

/// Reads a JSON or YAML file, or a folder that holds one named for a type (`agent.yaml`, `job.json`, …). It says the
/// members of `POST /extensions`, or is flat as the gateway's own files are: `name`, `description`, `enabled`,
/// `trigger`, and the definition's members beside them. Throws std::runtime_error that names the file for what cannot
/// be read; symlinks and anything but files and folders in a folder are refused.
ExtensionPackage read_extension_package(const std::filesystem::path& path);

/// The body of `POST /extensions` that a document says. `stem` is its file's name without the extension, which gives
/// the type where it is one's name.
json::object extension_body(json::object document, std::string_view stem);

/// Copies the files of `package` to `target`, the extension's own directory. Throws std::runtime_error,
/// std::system_error.
void copy_files(const ExtensionPackage& package, const std::filesystem::path& target);

}  // namespace agw::cli
