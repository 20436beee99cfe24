#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/placements/types.hpp"

namespace agw {

class Connection;
class Database;

/// Decides which node of a cluster runs the program of an extension: the server of an app, an MCP server over stdio.
/// One node at a time claims it, under its lease in the database. When a node ends or its lease expires, other nodes
/// may claim its programs. The copy in memory follows the table with a short delay.
///
/// Requires nodes: tests/cluster/test_node_apps.py and test_stdio_servers.py show the use.
class Placements {
public:
  Placements(Loop& loop, Database& database, std::string node);

  /// Before the loop runs: frees the programs that this node ran before it was killed. `others` must outlive this.
  void load(Connection& connection, OtherPrograms& others);
  /// Calls `listener` with the extension's id whenever a placement has changed. Call it before `start`.
  void on_change(std::function<void(const std::string&)> listener) { listeners_.push_back(std::move(listener)); }
  /// Allows this node to claim, and notifies the listeners of all placements.
  void start();
  Task<> stop();
  /// Reads these placements again, because other nodes have changed them.
  Task<> refresh(std::vector<std::string> ids);

  /// Returns null if no node runs the program or should run it.
  const Placement* find(std::string_view extension_id) const;
  /// Returns the other node that runs the program; empty if this node runs it, or none.
  std::string other_node(std::string_view extension_id) const;
  bool is_here(std::string_view extension_id) const;
  OtherPrograms& others() const { return *others_; }

  /// Returns true if this node runs the program from now on, or did before; false if another one does.
  Task<bool> claim(std::string extension_id);
  /// Like `claim`, but only if some node should run the program: it does not undo a `remove`.
  Task<bool> take(std::string extension_id);
  /// Frees the program for any node, if this node runs it or none does.
  Task<> offer(std::string extension_id);
  /// Records that no node should run the program, if this node runs it or none does.
  Task<> remove(std::string extension_id);
  /// Like `remove`, but only if no node runs the program. Afterwards `find` returns the node that claimed it first, if
  /// any.
  Task<> remove_free(std::string extension_id);
  /// Reports the state of a program of this node to the other nodes, at the latest when the database is reachable
  /// again.
  void report_state(const std::string& extension_id, std::string state);

  /// Frees all programs of the session's node. Call it inside a write.
  static void free_all(Connection& connection);

private:
  Task<bool> acquire(std::string extension_id, std::optional<Placement> (*statement)(Connection&, const std::string&));
  Task<> change(std::string extension_id, void (*statement)(Connection&, const std::string&));
  Task<> store(std::string extension_id);
  Task<bool> try_to_store(const std::string& extension_id, const std::string& state);
  void set(const std::string& extension_id, std::optional<Placement> placement);

  Database& database_;
  const std::string node_;
  OtherPrograms* others_ = nullptr;  ///< null before `load`
  std::map<std::string, Placement, std::less<>> placements_;
  std::vector<std::function<void(const std::string&)>> listeners_;
  std::map<std::string, std::string> unstored_states_;  ///< the latest state of each extension that is not stored yet
  bool has_warned_ = false;                             ///< since the last stored state
  StopSource stopping_;
  TaskGroup group_;
};

}  // namespace agw
