#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// A file or directory of an extension.
struct ExtensionFileEntry {
  std::string name;  ///< its path, relative to the extension's directory
  bool isDirectory = false;
};
const Description& describe(Tag<ExtensionFileEntry>);

/// `GET /extensions/:id/files`.
struct ExtensionFileList {
  std::string root;                       ///< the extension's directory
  std::vector<ExtensionFileEntry> files;  ///< sorted, at most 10,000
};
const Description& describe(Tag<ExtensionFileList>);

/// How file content is represented in JSON: base64 if it is not UTF-8.
enum class FileEncoding { utf_8, base64 };
std::span<const EnumName> names(Tag<FileEncoding>);

/// `GET /extensions/:id/file`.
struct ExtensionFile {
  std::string path;
  std::string content;
  FileEncoding encoding{};
  std::int64_t size = 0;  ///< bytes of the file
  Timestamp modified_at{};
};
const Description& describe(Tag<ExtensionFile>);

/// The query of `GET /extensions/:id/file`.
struct ExtensionFileQuery {
  std::string path;
  bool raw = false;  ///< the bytes themselves instead of JSON
};
const Description& describe(Tag<ExtensionFileQuery>);

/// The response to `PATCH /extensions/:id/disk-config`.
struct WrittenConfig {
  std::string status = "ok";
  json::object config;
};
const Description& describe(Tag<WrittenConfig>);

/// The response to `POST /reseed`.
struct Reseeded {
  std::string status = "reseeded";
  std::vector<std::string> warnings;  ///< which files are invalid, and why
};
const Description& describe(Tag<Reseeded>);

}  // namespace agw
