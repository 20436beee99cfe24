#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "features/extensions/file_types.hpp"
#include "features/extensions/types.hpp"
#include "io/files/directory.hpp"
#include "io/process/blocking.hpp"

namespace agw {

class Extensions;

/// The files of extensions that clients may see: those in the directories of agents and jobs, and of apps whose `path`
/// is a directory.
///
/// A client chooses the path of an app. It must be absolute and in the home directory, and no component may begin with
/// a dot. In the data directory, it may only be among the files of agents: everything else there belongs to the
/// gateway.
///
/// Functions throw NotFound `extension not found`.
class ExtensionFiles {
public:
  /// Both paths are absolute and resolved.
  ExtensionFiles(Loop& loop, Extensions& extensions, std::filesystem::path home, std::filesystem::path data_directory);

  /// An extension's opened directory; null if it does not exist (any more).
  struct Opened {
    std::filesystem::path path;
    std::shared_ptr<const Directory> directory;
    FileError why_not = FileError::not_found;  ///< valid only if nothing was opened
  };
  /// Throws BadRequest `extension has no disk path`.
  Task<Opened> open(std::string id_or_name);

  /// Throws ApiError 500 `could not read directory`.
  Task<ExtensionFileList> list(Opened opened);
  /// `content` holds the unencoded bytes; `encoding` is base64 if they are not UTF-8. Throws BadRequest `path traversal
  /// not allowed`, NotFound `file not found`, PayloadTooLarge `file too large` (over 5 MiB), Forbidden `permission
  /// denied`.
  Task<ExtensionFile> read(Opened opened, std::string path);

  /// The members of agent.yaml or job.yaml as it is on disk. Throws BadRequest `disk-config not supported for type …`
  /// and, for a broken file, `validation failed`; otherwise like `read`.
  Task<json::object> config(std::string id_or_name);
  /// The agent or job whose file `config` reads. Throws BadRequest like `config`.
  ExtensionPointer require_config(const std::string& id_or_name) const;
  /// Replaces the file and the record in one step; returns the new members of the file. Throws like
  /// Extensions::overwrite.
  Task<json::object> overwrite(ExtensionPointer extension, json::object flat);

private:
  Extensions& extensions_;
  const std::filesystem::path home_;
  const std::filesystem::path data_directory_;
  BlockingPool pool_;
};

/// Encodes a result of `read` for JSON: as base64 if `encoding` is that.
ExtensionFile encoded(ExtensionFile file);

}  // namespace agw
