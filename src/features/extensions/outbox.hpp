#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/extensions/directories.hpp"
#include "io/blocking.hpp"
#include "storage/database.hpp"

namespace agw {

/// Makes directories follow records. What is to be done on disk is noted in the transaction of the record's change,
/// done behind it in the order of the commits, put on disk by one sync for all that was done within a second, and only
/// then crossed out. A start does again what is not crossed out.
class ExtensionOutbox {
public:
  /// What was deleted stays in the trash for as long as `kept`.
  ExtensionOutbox(Loop& loop, Database& database, std::filesystem::path data_directory,
                  std::chrono::days kept = std::chrono::days(90));

  /// Whether files are written also where a change left the text of the record as it was.
  enum class Rewrite { when_changed, always };
  /// Inside the write that makes `after` of `before` (null: made, or deleted): notes the steps.
  static std::vector<DiskStep> note(Connection& connection, const Extension* before, const Extension* after,
                                    Rewrite rewrite = Rewrite::when_changed);

  /// Takes the steps of a write that has just been committed. To be called before anything else is waited for. Returns
  /// when they are taken, also where the disk refused: that is logged, and tried again later. Answers whether all are
  /// done.
  Task<bool> take(std::vector<DiskStep> steps);

  /// The one thread that takes the steps, in order. What is run on it in the directory of an agent or a job whose name
  /// was looked up right before finds that directory: the moves that the name is ahead of are done by then, later ones
  /// are not.
  BlockingPool& disk() { return disk_; }

  /// Throws std::system_error where the extension's files could not be made what it says now.
  Task<> check_replaceable(ExtensionPointer extension);

  /// Looks at all directories; `records` are all agents and jobs.
  Task<DirectoryFindings> look(std::vector<ExtensionPointer> records);
  /// Inside the write that takes a directory over: notes that the record says what the files say.
  static void note_taken(Connection& connection, const std::string& extension_id, KnownDirectory known);
  /// Behind it.
  Task<> accept(std::string extension_id, std::string path, KnownDirectory known);

  // Before the loop runs.

  /// Does again what a stopped gateway may have left undone.
  void load(Connection& connection);
  DirectoryFindings look_at_start(Connection& connection, const std::vector<ExtensionPointer>& records);
  void take_at_start(Connection& connection, const std::vector<DiskStep>& steps);
  void accept_at_start(const std::string& extension_id, const std::string& path, const KnownDirectory& known);

  /// Begins to cross out, and to look after the trash, in the background, until `stop` has returned.
  void start();
  /// Crosses out what is done by then.
  Task<> stop();

private:
  Task<> note_made(KnownDirectories made);
  void note_made_at_start(Connection& connection);
  Task<> keep_trash_small();
  void cross_out_later(const std::vector<std::int64_t>& done);
  void cross_out_later();
  Task<> cross_out();
  Task<> try_to_cross_out();
  Task<> cross_out(std::vector<std::int64_t> done);

  Database& database_;
  const std::filesystem::path data_directory_;
  const std::chrono::days kept_;
  std::shared_ptr<ExtensionDirectories> directories_;
  BlockingPool disk_;     ///< one thread: steps are taken in order
  BlockingPool syncing_;  ///< a sync may take long, and nobody waits for it
  std::vector<std::int64_t> done_;
  bool has_news_ = false;
  bool started_ = false;
  bool crossing_out_ = false;
  Stop stopping_;
  Group background_;
};

}  // namespace agw
