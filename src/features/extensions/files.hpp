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

/// What clients see of the directories of extensions: those of agents and jobs, and of apps whose `path` names one.
///
/// The path of an app is a client's word. It counts where it is absolute and leads into the home directory, but not
/// behind a name that begins with a dot, and in the data directory only to agents' files: everything else there is the
/// gateway's own.
///
/// Throws NotFound `extension not found`.
class ExtensionFiles {
public:
  /// Both paths are absolute and resolved.
  ExtensionFiles(Loop& loop, Extensions& extensions, std::filesystem::path home, std::filesystem::path data_directory);

  /// An extension's directory, opened; nothing where it is not there (any more).
  struct Opened {
    std::filesystem::path path;
    std::shared_ptr<const Directory> directory;
    FileError why_not = FileError::not_found;  ///< where nothing was opened
  };
  /// Throws BadRequest `extension has no disk path`.
  Task<Opened> open(std::string id_or_name);

  /// Throws ApiError 500 `could not read directory`.
  Task<ExtensionFileList> list(Opened opened);
  /// The bytes stand in `content`, `encoding` says whether they are UTF-8. Throws BadRequest `path traversal not
  /// allowed`, NotFound `file not found`, PayloadTooLarge `file too large` (over 5 MiB), Forbidden `permission denied`.
  Task<ExtensionFile> read(Opened opened, std::string path);

  /// The members of agent.yaml or job.yaml as it is on disk. Throws BadRequest `disk-config not supported for type …`
  /// and, for a broken file, `validation failed`; otherwise as `read`.
  Task<json::object> config(std::string id_or_name);
  /// Throws BadRequest as `config` does.
  ExtensionPointer require_config(const std::string& id_or_name) const;
  /// Replaces the file and, in the same step, the record; answers what the file holds now. Throws as
  /// Extensions::overwrite.
  Task<json::object> overwrite(ExtensionPointer extension, json::object flat);

private:
  Extensions& extensions_;
  const std::filesystem::path home_;
  const std::filesystem::path data_directory_;
  BlockingPool pool_;
};

/// As JSON carries the bytes that `read` answered: in base64 unless they are UTF-8.
ExtensionFile encoded(ExtensionFile file);

}  // namespace agw
