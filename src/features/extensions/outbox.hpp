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

/// Updates the directories on disk after changes of records. The disk steps of a change are recorded in its transaction
/// and executed after it in commit order. About a second later, they are synced together with others, and only then
/// deleted. A start repeats the steps that are still recorded.
///
/// If nodes share the directories, the leading node executes the steps of all nodes. The other nodes wait until it
/// reports that their steps were executed.
class ExtensionOutbox {
public:
  enum class Files { own, shared };
  /// Files stay in the trash for `kept`, then they are deleted permanently.
  ExtensionOutbox(Loop& loop, Database& database, std::filesystem::path data_directory,
                  std::chrono::days kept = std::chrono::days(90), Files files = Files::own);

  /// Whether files are written even if a change left the text of the record unchanged.
  enum class Rewrite { when_changed, always };
  /// Inside the write that changes `before` to `after` (null: created or deleted): records the steps.
  static std::vector<DiskStep> record_steps(Connection& connection, const Extension* before, const Extension* after,
                                            Rewrite rewrite = Rewrite::when_changed);

  /// Executes the steps of a write that was just committed. Must be called before anything else is awaited. Disk errors
  /// are logged, and the step is repeated later. Returns whether all steps succeeded.
  Task<bool> execute(std::vector<DiskStep> steps);

  /// The single thread that executes the steps, in order. To use the directory of an agent or job, look up its name and
  /// run on this thread without awaiting in between: then earlier moves are complete, and later ones have not begun.
  BlockingPool& disk() { return disk_; }

  /// Throws std::system_error if the extension's files could not be brought up to date.
  Task<> check_replaceable(ExtensionPointer extension);

  /// Compares all directories with `records`, which are all agents and jobs.
  Task<DirectoryFindings> compare(std::vector<ExtensionPointer> records,
                                  ExtensionDirectories::At at = ExtensionDirectories::At::contents);
  /// Compares the directory of one agent or job. Look up the record immediately before the call.
  Task<DirectoryFindings> edit_of(ExtensionPointer record);
  /// Inside the write that updates a record from its directory: records that they now match.
  static void record_known(Connection& connection, const std::string& extension_id, KnownDirectory known);
  /// Must be called after that write.
  Task<> accept(std::string extension_id, std::string path, KnownDirectory known);

  // Before the loop runs.

  /// Repeats the steps that an earlier process may not have completed.
  void load(Connection& connection);
  DirectoryFindings compare_at_start(Connection& connection, const std::vector<ExtensionPointer>& records);
  void execute_at_start(Connection& connection, const std::vector<DiskStep>& steps);
  void accept_at_start(const std::string& extension_id, const std::string& path, const KnownDirectory& known);

  // For nodes that share the directories.

  bool is_shared() const { return files_ == Files::shared; }
  /// Makes this node the leading one, which executes the steps of all nodes, beginning with those that its predecessor
  /// left. After that, and every few seconds, it calls `compare`, because edits by people cause no event.
  void lead(std::function<Task<>()> compare);
  /// Asks the leading node to compare soon.
  Task<> have_compared();
  /// Must be called when any node has recorded steps.
  void follow_recorded();
  /// Handles notifications of other nodes: outcomes of executed steps, or a request to compare.
  void follow(const std::vector<std::string>& keys);

  /// Starts to delete completed steps and old trash in the background, until `stop` has returned.
  void start();
  /// Ends the background work, then deletes the completed steps.
  Task<> stop();

private:
  Task<bool> execute_here(std::vector<DiskStep> steps);
  Task<bool> await_executed(std::vector<std::int64_t> wanted);
  Task<> leading(std::function<Task<>()> compare);
  Task<bool> try_to_begin();
  Task<> execute_recorded();
  Task<> execute_recorded_once();
  Task<> note_executed(std::vector<DiskStep> steps, std::vector<std::int64_t> done, KnownDirectories made);
  Task<> record_made(KnownDirectories made);
  void record_made_at_start(Connection& connection);
  Task<> prune_trash();
  void schedule_deletion(const std::vector<std::int64_t>& done);
  void schedule_deletion();
  Task<> delete_done();
  Task<> try_to_delete_done();
  Task<> delete_done(std::vector<std::int64_t> done);

  Database& database_;
  const std::filesystem::path data_directory_;
  const std::chrono::days kept_;
  std::shared_ptr<ExtensionDirectories> directories_;
  BlockingPool disk_;     ///< one thread: steps stay in order
  BlockingPool syncing_;  ///< a sync may take long, and must not delay the steps
  const Files files_;
  bool leads_ = false;
  bool has_recorded_ = false;
  bool is_executing_ = false;
  std::set<std::int64_t> executed_;        ///< executed steps of all nodes, until their records are deleted
  std::map<std::int64_t, bool> outcomes_;  ///< by step: whether it succeeded; only the latest
  AsyncEvent outcome_;
  AsyncEvent comparison_wanted_;
  std::vector<std::int64_t> done_;
  bool has_changes_ = false;
  bool started_ = false;
  bool is_deleting_done_ = false;
  StopSource stopping_;
  TaskGroup background_;
};

/// Permanently deletes everything that was moved to `{data_dir}/trash/` before `oldest`. Entries that cannot be deleted
/// are logged and skipped. Blocks.
void empty_trash(const std::filesystem::path& data_directory, Timestamp oldest);

}  // namespace agw
