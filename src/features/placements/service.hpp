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

/// Which node of a cluster runs the program of an extension: the server of an app, an MCP server over stdio. One node
/// at a time claims it, under the lease that it has in the database. What a node ran is free for any other one when it
/// ends, or when its lease has expired. What is held in memory follows the table within a moment.
///
/// It needs nodes: tests/cluster/test_node_apps.py and test_stdio_servers.py show the use.
class Placements {
public:
  Placements(Loop& loop, Database& database, std::string node);

  /// Before the loop runs: what this node ran before it was killed is free. `others` outlives this.
  void load(Connection& connection, OtherPrograms& others);
  /// Calls `listener` with the extension's id whenever a placement has changed. Before `start`.
  void on_change(std::function<void(const std::string&)> listener) { listeners_.push_back(std::move(listener)); }
  /// From now on this node may claim: notifies the listeners of all placements.
  void start();
  Task<> stop();
  /// Rereads these, because other nodes have changed them.
  Task<> refresh(std::vector<std::string> ids);

  /// Null if no node runs it or should.
  const Placement* find(std::string_view extension_id) const;
  /// The other node that runs it; empty if this one does, or none.
  std::string other_node(std::string_view extension_id) const;
  bool is_here(std::string_view extension_id) const;
  OtherPrograms& others() const { return *others_; }

  /// Whether this node runs it from now on, or did before. False if another one does.
  Task<bool> claim(std::string extension_id);
  /// The same, but only if some node should run it: it does not undo a `remove`.
  Task<bool> take(std::string extension_id);
  /// Frees it for any node, if this one runs it or none does.
  Task<> offer(std::string extension_id);
  /// No node should run it any more, if this one does or none does.
  Task<> remove(std::string extension_id);
  /// The same, but only if none does. Afterwards `find` returns the node that was faster.
  Task<> remove_free(std::string extension_id);
  /// Reports the state to the other nodes, while this one runs it; at the latest when the database is reachable again.
  void tell(const std::string& extension_id, std::string state);

  /// Inside a write: frees what the node runs whose session it is.
  static void free_all(Connection& connection);

private:
  Task<bool> acquire(std::string extension_id, std::optional<Placement> (*statement)(Connection&, const std::string&));
  Task<> change(std::string extension_id, void (*statement)(Connection&, const std::string&));
  Task<> store(std::string extension_id);
  Task<bool> try_to_store(const std::string& extension_id, const std::string& state);
  void set(const std::string& extension_id, std::optional<Placement> placement);

  Database& database_;
  const std::string node_;
  OtherPrograms* others_ = nullptr;  ///< before `load`
  std::map<std::string, Placement, std::less<>> placements_;
  std::vector<std::function<void(const std::string&)>> listeners_;
  std::map<std::string, std::string> untold_;  ///< the latest states that are to be stored, by extension
  bool has_warned_ = false;                    ///< since a state was stored
  StopSource stopping_;
  TaskGroup group_;
};

}  // namespace agw
