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
#include "io/files/directory.hpp"

namespace agw {

/// A directory whose files differ from its record, or that has no record yet.
struct TakenDirectory {
  ExtensionPointer record;  ///< at the time of the comparison; null if there is none
  std::string id;           ///< the id of the record, or of the one to create
  std::string path;         ///< `agents/<name>`
  std::variant<NewExtension, ExtensionChange> wanted;
  KnownDirectory known;  ///< stored once the files become the record
};

/// The result of comparing directories with their records.
struct DirectoryFindings {
  std::vector<TakenDirectory> taken;
  std::vector<ExtensionPointer> missing;  ///< records whose files are missing or outdated
  std::vector<std::string> warnings;      ///< which files are broken, and why
  std::vector<std::int64_t> done;         ///< steps that failed earlier and are now complete
};

/// The directories of agents and jobs, and the known state of each. All functions block. Except for `sync`, only one
/// thread at a time may call them. Paths are resolved below the data directory, those of an extension's files below its
/// directory.
class ExtensionDirectories {
public:
  explicit ExtensionDirectories(const std::filesystem::path& data_directory);

  /// Sets the last known state of a directory, as read from the database.
  void set_known(std::string extension_id, KnownDirectory known) {
    known_.insert_or_assign(std::move(extension_id), std::move(known));
  }

  /// Executes steps that were just committed, in order. A file in the way that the gateway did not write is moved to
  /// the trash. Failed steps are logged. They are repeated by the next `compare`, or when another step needs the same
  /// path. Returns the completed steps.
  std::vector<std::int64_t> execute(const std::vector<DiskStep>& steps);
  /// Repeats steps that may already be complete. Does not change files that were edited since. Returns the completed
  /// steps.
  std::vector<std::int64_t> repeat(const std::vector<DiskStep>& steps);

  /// Creates the extension's directory and tests whether its files could be written. Throws std::system_error if not.
  void check_replaceable(const Extension& extension) const;

  /// Compares all directories with `records`, which are all agents and jobs. With At::stamps, reads only files whose
  /// stamp has changed. Ignores a directory whose move is still pending.
  enum class At { stamps, contents };
  DirectoryFindings compare(const std::vector<ExtensionPointer>& records, At at);
  /// Compares the directory of one record. Finds nothing while the gateway has pending steps for it.
  DirectoryFindings edit_of(const ExtensionPointer& record);
  /// Must be called once the record was updated from its files. `path` is `agents/<name>`.
  void accept(const std::string& extension_id, const std::string& path, const KnownDirectory& known);

  /// The directories created since the last call, with the inodes that identify them.
  KnownDirectories made();

  /// The states that changed since the last call. Each file is checked again, because an edit during the gateway's own
  /// write may leave the stamp unchanged.
  KnownDirectories take_changed();

  /// Syncs everything to disk.
  void sync() const { root_.sync(); }

private:
  /// Both files of a directory.
  struct Contents {
    FileResult<std::string> config;
    FileResult<std::string> prompt;
    KnownDirectory known;

    /// The members in both files; `record` is null if there is none yet. Throws YamlError.
    json::object flat(ExtensionType type, const Extension* record) const;
  };
  enum class Attempt { first, again };
  using RecordsByName = std::unordered_map<std::string_view, ExtensionPointer>;

  void execute(const DiskStep& step, Attempt attempt);
  bool try_step(const DiskStep& step, Attempt attempt);
  bool waits(const DiskStep& step) const;
  bool is_to_be_moved(const std::string& path) const;
  void drop_superseded(const DiskStep& step);
  void free_place(const DiskStep& step);
  void abandon_moves(const std::string& path);
  void move(const DiskStep& step, Attempt attempt);
  void move_directory(const DiskStep& step, Attempt attempt);
  bool is_moved_already(const DiskStep& step, const FileResult<FileStamp>& source) const;
  void write(const DiskStep& step, Attempt attempt);
  void mark_as_own(const DiskStep& step);
  void replace(const DiskStep& step, const std::string& path, const std::optional<std::string>& wanted);
  bool is_foreign(const std::string& extension_id, const std::optional<std::string>& id) const;
  bool is_ours(const std::string& extension_id, const std::string& content_id) const;
  void set_aside(const std::string& path);

  void compare_type(ExtensionType type, const std::vector<ExtensionPointer>& records, At at,
                    DirectoryFindings& findings);
  void compare_entry(ExtensionType type, const DirectoryEntry& entry, const std::vector<ExtensionPointer>& records,
                     RecordsByName& left, At at, DirectoryFindings& findings);
  void compare_record(const ExtensionPointer& record, const std::string& path, At at, DirectoryFindings& findings);
  static bool has_lost_prompt(const Extension& record, const Contents& contents, const KnownDirectory& known);
  void compare_edit(const ExtensionPointer& record, const std::string& path, const Contents& contents,
                    DirectoryFindings& findings);
  void inspect_new(ExtensionType type, const std::string& name, const std::vector<ExtensionPointer>& records,
                   DirectoryFindings& findings);
  std::string why_not_new(std::uint64_t inode, const std::vector<ExtensionPointer>& records) const;
  static void with_warnings(const std::string& path, const Contents& contents, DirectoryFindings& findings,
                            const std::function<void()>& take);
  Contents read(ExtensionType type, const std::string& path) const;
  bool is_unchanged(const std::string& path, const KnownDirectory& known) const;

  Directory root_;
  std::unordered_map<std::string, KnownDirectory> known_;        ///< by the extension's id
  std::unordered_map<std::string, std::set<std::string>> sent_;  ///< ids of possibly written contents
  std::vector<DiskStep> failed_;                                 ///< in order
  std::vector<std::int64_t> done_;                               ///< completed steps to return
  std::unordered_map<std::string, std::string> changed_;         ///< paths by the extension's id
  KnownDirectories made_;
};

}  // namespace agw
