#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/time/time.hpp"
#include "features/extensions/directories.hpp"
#include "io/process/blocking.hpp"
#include "storage/database.hpp"

namespace agw {

/// Makes directories follow records. The disk steps of a change are recorded in its transaction, executed after it in
/// commit order, synced together with all others of the same second, and only then deleted. A start repeats the steps
/// that are not deleted.
///
/// Where nodes share the directories, one of them, which leads, executes the steps of all; what others do on disk waits
/// until it tells them that it has.
class ExtensionOutbox {
public:
  enum class Files { own, shared };
  /// Deleted files stay in the trash for `kept`.
  ExtensionOutbox(Loop& loop, Database& database, std::filesystem::path data_directory,
                  std::chrono::days kept = std::chrono::days(90), Files files = Files::own);

  /// Whether files are written even if a change left the text of the record unchanged.
  enum class Rewrite { when_changed, always };
  /// Inside the write that changes `before` to `after` (null: created or deleted): records the steps.
  static std::vector<DiskStep> record_steps(Connection& connection, const Extension* before, const Extension* after,
                                            Rewrite rewrite = Rewrite::when_changed);

  /// Executes the steps of a write that was just committed. Call it before awaiting anything else. Disk errors are
  /// logged, and the step is repeated later. Returns whether all steps succeeded.
  Task<bool> take(std::vector<DiskStep> steps);

  /// The single thread that executes the steps, in order. To use the directory of an agent or job, look its name up and
  /// run on this thread at once: earlier moves are then complete, and later ones have not begun.
  BlockingPool& disk() { return disk_; }

  /// Throws std::system_error if the extension's files could not be brought up to date.
  Task<> check_replaceable(ExtensionPointer extension);

  /// Compares all directories with `records`, which are all agents and jobs.
  Task<DirectoryFindings> compare(std::vector<ExtensionPointer> records,
                                  ExtensionDirectories::At at = ExtensionDirectories::At::contents);
  /// Compares the directory of one agent or job. Look the record up immediately before.
  Task<DirectoryFindings> edit_of(ExtensionPointer record);
  /// Inside the write that takes over a directory: records that record and files agree.
  static void record_taken(Connection& connection, const std::string& extension_id, KnownDirectory known);
  /// After that write.
  Task<> accept(std::string extension_id, std::string path, KnownDirectory known);

  // Before the loop runs.

  /// Repeats the steps that an earlier process may not have completed.
  void load(Connection& connection);
  DirectoryFindings compare_at_start(Connection& connection, const std::vector<ExtensionPointer>& records);
  void take_at_start(Connection& connection, const std::vector<DiskStep>& steps);
  void accept_at_start(const std::string& extension_id, const std::string& path, const KnownDirectory& known);

  // Of nodes that share the directories.

  bool is_shared() const { return files_ == Files::shared; }
  /// This node is the first one: it executes the steps of all, beginning with those that another one has left. Then,
  /// and every few seconds, it calls `compare`, because nobody else says when a person edits a file.
  void lead(std::function<Task<>()> compare);
  /// Has the node that leads compare soon.
  Task<> have_compared();
  /// News from the database: steps were recorded, or (`keys`) executed.
  void follow_recorded();
  void follow(const std::vector<std::string>& keys);

  /// Starts to delete completed steps and old trash in the background, until `stop` has returned.
  void start();
  /// Deletes the steps that are complete by then.
  Task<> stop();

private:
  Task<bool> take_here(std::vector<DiskStep> steps);
  Task<bool> await_taken(std::vector<std::int64_t> wanted);
  Task<> leading(std::function<Task<>()> compare);
  Task<bool> try_to_begin();
  Task<> take_recorded();
  Task<> take_recorded_once();
  Task<> note_taken(std::vector<DiskStep> steps, std::vector<std::int64_t> done, KnownDirectories made);
  Task<> record_made(KnownDirectories made);
  void record_made_at_start(Connection& connection);
  Task<> prune_trash();
  void cross_out_later(const std::vector<std::int64_t>& done);
  void cross_out_later();
  Task<> cross_out();
  Task<> try_to_cross_out();
  Task<> cross_out(std::vector<std::int64_t> done);

  Database& database_;
  const std::filesystem::path data_directory_;
  const std::chrono::days kept_;
  std::shared_ptr<ExtensionDirectories> directories_;
  BlockingPool disk_;     ///< one thread: steps stay in order
  BlockingPool syncing_;  ///< a sync may take long, and must not delay the steps
  const Files files_;
  bool leads_ = false;
  bool has_recorded_ = false;
  bool is_taking_ = false;
  std::set<std::int64_t> taken_;           ///< of all nodes, until they are crossed out
  std::map<std::int64_t, bool> outcomes_;  ///< of the latest steps: whether they succeeded
  AsyncEvent outcome_;
  AsyncEvent comparison_wanted_;
  std::vector<std::int64_t> done_;
  bool has_news_ = false;
  bool started_ = false;
  bool crossing_out_ = false;
  StopSource stopping_;
  TaskGroup background_;
};

/// Permanently deletes everything that was moved to `{data_dir}/trash/` before `oldest`. Logs entries that cannot be
/// deleted and leaves them. Blocks.
void empty_trash(const std::filesystem::path& data_directory, Timestamp oldest);

}  // namespace agw
