#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"
#include "features/threads/types.hpp"
#include "tools/file_recorder.hpp"

namespace agw {

/// The net effect of a run on a path, from its first change to its last.
enum class FileChangeKind { created, changed, deleted };
std::span<const EnumName> names(Tag<FileChangeKind>);

/// The net change of one path by a run.
struct FileChange {
  std::string path;  ///< absolute
  FileChangeKind kind{};
  std::string type;  ///< `file`, `symlink` or `directory`
  std::string diff;  ///< unified; empty for a binary file, a directory, and a content that is not stored
  bool is_binary = false;
  std::optional<std::string> mode_before;  ///< octal, if the permission bits changed
  std::optional<std::string> mode_after;
  bool undone = false;
};
const Description& describe(Tag<FileChange>);

/// A path that a run may have changed although its previous content is not stored.
struct UncoveredChange {
  std::string path;
  std::string reason;
};
const Description& describe(Tag<UncoveredChange>);

const Description& describe(Tag<ContactedHost>);

/// The response of `GET /runs/:id/changes`.
struct RunChanges {
  std::string run_id;
  std::vector<FileChange> changes;  ///< by path
  std::vector<UncoveredChange> not_covered;
  std::vector<ContactedHost> hosts;  ///< of its commands, by name
};
const Description& describe(Tag<RunChanges>);

/// The body of `POST /runs/:id/undo`.
struct UndoFiles {
  std::optional<std::vector<std::string>>
      paths;           ///< absolute, or relative to the run's working directory; default: all
  bool force = false;  ///< also undo changes of files that were changed again since
};
const Description& describe(Tag<UndoFiles>);

/// A path that an undo did not change.
struct KeptFile {
  std::string path;
  std::string reason;
};
const Description& describe(Tag<KeptFile>);

/// The response of `POST /runs/:id/undo`.
struct UndoneFiles {
  std::vector<std::string> restored;
  std::vector<KeptFile> kept;
};
const Description& describe(Tag<UndoneFiles>);

/// The body of `POST /threads/:id/rewind`.
struct RewindThread {
  std::string turn_id;  ///< the last turn of the fork
  bool files = true;    ///< also undo the file changes of later runs of the thread
};
const Description& describe(Tag<RewindThread>);

/// The response: the fork, and the restored and unchanged files.
struct RewoundThread : Thread {
  std::vector<std::string> restored;
  std::vector<KeptFile> kept;
};
const Description& describe(Tag<RewoundThread>);

}  // namespace agw
