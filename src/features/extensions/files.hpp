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

/// The files that clients may see of extensions: in the directories of agents and jobs, and of apps whose `path` names
/// one.
///
/// A client chooses the path of an app. It must be absolute and in the home directory, with no name on the way that
/// begins with a dot. In the data directory it may only lead to files of agents: everything else there belongs to the
/// gateway.
///
/// Functions throw NotFound `extension not found`.
class ExtensionFiles {
public:
  /// Both paths are absolute and resolved.
  ExtensionFiles(Loop& loop, Extensions& extensions, std::filesystem::path home, std::filesystem::path data_directory);

  /// An extension's directory, opened; null if it does not exist (any more).
  struct Opened {
    std::filesystem::path path;
    std::shared_ptr<const Directory> directory;
    FileError why_not = FileError::not_found;  ///< if nothing was opened
  };
  /// Throws BadRequest `extension has no disk path`.
  Task<Opened> open(std::string id_or_name);

  /// Throws ApiError 500 `could not read directory`.
  Task<ExtensionFileList> list(Opened opened);
  /// `content` holds the bytes themselves, `encoding` says whether they are UTF-8. Throws BadRequest `path traversal
  /// not allowed`, NotFound `file not found`, PayloadTooLarge `file too large` (over 5 MiB), Forbidden `permission
  /// denied`.
  Task<ExtensionFile> read(Opened opened, std::string path);

  /// The members of agent.yaml or job.yaml as it is on disk. Throws BadRequest `disk-config not supported for type …`
  /// and, for a broken file, `validation failed`; otherwise as `read`.
  Task<json::object> config(std::string id_or_name);
  /// Throws BadRequest as `config` does.
  ExtensionPointer require_config(const std::string& id_or_name) const;
  /// Replaces the file and the record in one step; returns the new members of the file. Throws as
  /// Extensions::overwrite.
  Task<json::object> overwrite(ExtensionPointer extension, json::object flat);

private:
  Extensions& extensions_;
  const std::filesystem::path home_;
  const std::filesystem::path data_directory_;
  BlockingPool pool_;
};

/// `file`, from `read`, as JSON holds it: base64 unless it is UTF-8.
ExtensionFile encoded(ExtensionFile file);

}  // namespace agw
