#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "features/extensions/outbox_store.hpp"
#include "features/extensions/types.hpp"
#include "io/beneath.hpp"

namespace agw {

/// A directory that says something else than its record, or that has no record yet.
struct TakenDirectory {
  ExtensionPointer record;  ///< as it was when the directory was looked at; null for none
  std::string id;           ///< of the record, or of the one that is to be made
  std::string path;         ///< `agents/<name>`
  std::variant<NewExtension, ExtensionChange> wanted;
  KnownDirectory known;  ///< once it is taken over
};

/// What a look at all directories has found.
struct DirectoryFindings {
  std::vector<TakenDirectory> taken;
  std::vector<ExtensionPointer> missing;  ///< records whose files are not there, or are of an older version
  std::vector<std::string> warnings;      ///< what is broken, and why
  std::vector<std::int64_t> done;         ///< steps that failed before
};

/// The directories of agents and jobs, and what is known of each. Everything blocks; used by one thread at a time, but
/// for `sync`. Paths are resolved beneath the data directory, the files of an extension beneath its own directory.
class ExtensionDirectories {
public:
  explicit ExtensionDirectories(const std::filesystem::path& data_directory);

  /// What was known of a directory when it was last left.
  void know(std::string extension_id, KnownDirectory known) { known_[std::move(extension_id)] = known; }

  /// Takes steps that were just committed, in order. A file in the way that the gateway did not write goes to the
  /// trash. Those that fail are logged, and tried again with the next `look`, or when something else needs the place.
  /// Answers what is done.
  std::vector<std::int64_t> take(const std::vector<DiskStep>& steps);
  /// Takes steps again, which may have been taken: leaves alone what was edited since. Answers what is done.
  std::vector<std::int64_t> take_again(const std::vector<DiskStep>& steps);

  /// Throws std::system_error where the extension's files could not be made what it says now; makes its directory.
  void check_replaceable(const Extension& extension) const;

  /// Looks at all directories. `records` are all agents and jobs. At stamps: reads only what seems to have changed.
  /// A directory that is still to be moved away is nobody's: it says nothing.
  enum class At { stamps, contents };
  DirectoryFindings look(const std::vector<ExtensionPointer>& records, At at);
  /// What was found has become the record. `path` is `agents/<name>`.
  void accept(const std::string& extension_id, const std::string& path, const KnownDirectory& known);

  /// Directories that writes have made since the last call. They are told apart from others by their inodes.
  KnownDirectories made();

  /// What is known anew since the last call, looked at once more: an edit in the moment of the gateway's own write may
  /// leave no trace in a stamp.
  KnownDirectories news();

  /// Puts it all on disk.
  void sync() const { root_.sync(); }

private:
  /// Both files of a directory.
  struct Contents {
    FileResult<std::string> config;
    FileResult<std::string> prompt;
    KnownDirectory known;

    /// The members that they say, of a `record` or of none yet. Throws YamlError.
    json::object flat(ExtensionType type, const Extension* record) const;
  };
  enum class Attempt { first, again };

  void take(const DiskStep& step, Attempt attempt);
  bool try_step(const DiskStep& step, Attempt attempt);
  bool waits(const DiskStep& step) const;
  bool is_to_be_moved(const std::string& path) const;
  void drop_superseded(const DiskStep& step);
  void free_place(const DiskStep& step);
  void give_up_moves(const std::string& path);
  void move(const DiskStep& step, Attempt attempt);
  bool is_moved_already(const DiskStep& step, const FileResult<FileStamp>& source) const;
  void write(const DiskStep& step, Attempt attempt);
  void know_as_ours(const DiskStep& step);
  void replace(const DiskStep& step, const std::string& path, const std::optional<std::string>& wanted);
  bool is_foreign(const std::string& extension_id, const std::optional<std::string>& id) const;
  bool is_ours(const std::string& extension_id, const std::string& content_id) const;
  void set_aside(const std::string& path);

  void look_at_type(ExtensionType type, const std::vector<ExtensionPointer>& records, At at,
                    DirectoryFindings& findings);
  void look_at_record(const ExtensionPointer& record, At at, DirectoryFindings& findings);
  static bool has_lost_prompt(const Extension& record, const Contents& contents, const KnownDirectory& known);
  void look_at_edit(const ExtensionPointer& record, const std::string& path, const Contents& contents,
                    DirectoryFindings& findings);
  void look_at_new(ExtensionType type, const std::string& name, DirectoryFindings& findings);
  static void with_warnings(const std::string& path, const Contents& contents, DirectoryFindings& findings,
                            const std::function<void()>& take);
  Contents read(ExtensionType type, const std::string& path) const;
  bool is_as_known(const std::string& path, const KnownDirectory& known) const;

  Directory root_;
  std::unordered_map<std::string, KnownDirectory> known_;        ///< by the extension's id
  std::unordered_map<std::string, std::set<std::string>> sent_;  ///< ids of contents that may have been written, too
  std::vector<DiskStep> failed_;                                 ///< in order
  std::vector<std::int64_t> done_;                               ///< of the steps that are being taken
  std::unordered_map<std::string, std::string> news_;            ///< paths by the extension's id
  KnownDirectories made_;
};

}  // namespace agw
