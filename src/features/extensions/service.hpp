#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "features/extensions/outbox.hpp"
#include "features/extensions/types.hpp"
#include "features/extensions/validation.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Tool;
class ExtensionFiles;
struct Route;
class Connection;
class Database;
class Hub;
class Registry;
namespace extension_store {
struct Row;
}
struct ExtensionWrites;

/// Finds names in a definition that do not exist: of tools, models, skills, capabilities, agents. They are no errors,
/// because they may be created later. Implemented by a room that knows tools and skills.
class NameCheck {
public:
  virtual ~NameCheck() = default;
  virtual Task<std::vector<ExtensionWarning>> unknown_names(ExtensionPointer extension) const = 0;
};

/// The extensions: the rules of their records, and the registry that holds them in memory.
///
/// Every decision about a record is made inside its write. The registry is updated in commit order, before the caller
/// resumes. Then the change is published with the new record, or with the last version of a deleted one. Changes during
/// `load` are not published.
/// Example: src/features/extensions/service_test.cpp: Extensions.AnExtensionIsCreatedWithWhatWasSentAndLiveAtOnce
class Extensions {
public:
  /// `outbox` updates the directories of agents and jobs; null if they have none.
  Extensions(Database& database, Hub& hub, const Clock& clock, ExtensionOutbox* outbox = nullptr);
  ~Extensions();
  Extensions(const Extensions&) = delete;
  Extensions& operator=(const Extensions&) = delete;

  /// Before the loop runs: updates the shipped extensions in the database if they differ, reads all extensions, and
  /// updates records from files that people edited in the meantime. Throws DatabaseError.
  void load(Connection& connection);

  /// Reads the extensions `ids`, which another node may have changed. Updates the registry and this node's directories,
  /// and publishes the changes as those of another node.
  Task<> refresh(std::vector<std::string> ids);

  // For nodes that share the directories, see ExtensionOutbox.

  bool shares_files() const { return outbox_ && outbox_->is_shared(); }
  /// Makes this node the leading one. Does nothing if each node has its own directories.
  void lead();
  Task<> follow_recorded_steps(std::vector<std::string>);
  Task<> follow_executed_steps(std::vector<std::string> keys);

  /// The thread that uses the directories of agents and jobs, see ExtensionOutbox::disk. Look up the name immediately
  /// before, without awaiting in between. Requires an outbox.
  BlockingPool& disk() const { return outbox_->disk(); }

  // Lookup. Null if there is none.

  ExtensionPointer find(std::string_view id) const;
  /// An id takes precedence over a name.
  ExtensionPointer find_by_id_or_name(std::string_view id_or_name) const;
  /// The extension of that type, enabled or not.
  ExtensionPointer find(ExtensionType type, std::string_view id_or_name) const;
  ExtensionPointer find_agent(std::string_view id_or_name) const { return find(ExtensionType::agent, id_or_name); }
  /// Throws NotFound `extension not found`.
  ExtensionPointer require(std::string_view id_or_name) const;

  /// Throws NotFound `agent not found`.
  ExtensionPointer require_agent(std::string_view id_or_name) const;
  /// An agent that is to answer. Throws BadRequest `agent not found` or `agent is disabled`, with `agent_id`.
  ExtensionPointer require_enabled_agent(const std::string& id_or_name) const;
  /// Newest first.
  std::vector<ExtensionPointer> list(const ExtensionFilter& filter = {}) const;
  /// The same as a JSON array. `blocking` makes the text of a long list.
  Task<std::string> list_json(BlockingPool& blocking, ExtensionFilter filter = {});

  // Changes. Bodies have the format of the API, also if they come from tools or files, and are validated here;
  // validation.hpp lists the BadRequests. `in_transaction` runs in the same transaction. `run_id` is the run whose
  // agent makes the change.

  /// Throws Conflict `extension name already exists` (with `name`). This and all changes throw BadRequest `validation
  /// failed` for a job whose `agent_id` names no agent, unless the record already had that value.
  Task<ExtensionPointer> create(json::object body, InTransaction<Extension> in_transaction = {},
                                std::string run_id = {});
  /// The same for a result of `read_new_extension`.
  Task<ExtensionPointer> add(NewExtension wanted, InTransaction<Extension> in_transaction = {},
                             std::string run_id = {});
  /// Throws NotFound; Forbidden for a built-in (except for `enabled`) and for disabling an essential one; Conflict if
  /// the name is taken, and `changed meanwhile` if `if_updated_at` belongs to another version. A body that changes
  /// nothing leaves the record unchanged. A person may omit required members of a definition, as the specification
  /// states ("a PATCH that sends a partial definition does not fail").
  Task<ExtensionPointer> change(std::string id_or_name, json::object body, std::string run_id = {},
                                RequiredMembers required = RequiredMembers::checked);
  /// The same for a result of `read_extension_change`.
  Task<ExtensionPointer> apply(std::string id_or_name, ExtensionChange wanted, std::string run_id = {});
  /// For an agent or job, with the members of its file: replaces the definition, changes `description`, `enabled` and
  /// `trigger` if they are given, and always writes the file. Throws like `change`, and ApiError 500 `update failed` if
  /// writing fails.
  Task<ExtensionPointer> overwrite(std::string id_or_name, json::object flat);
  /// Throws NotFound, Forbidden `cannot disable essential extensions`.
  Task<ExtensionPointer> toggle(std::string id_or_name, InTransaction<Extension> in_transaction = {});
  /// Deletes permanently, even built-ins. Throws NotFound, Forbidden `cannot delete essential extensions`, and without
  /// `force` Conflict `model service is in use` (with `named_by`) for a model service that agents or jobs use.
  Task<> remove(std::string id_or_name, bool force = false);

  /// The names of the agents and jobs that use a model of that service, as their model or as a fallback.
  std::vector<std::string> users_of_model_service(std::string_view name) const;

  /// Updates records from the shipped extensions, and from files of agents and jobs that people edited. Returns which
  /// files are invalid, and why.
  Task<std::vector<std::string>> reseed();

private:
  using Decide = std::function<ExtensionChange(const Extension& current)>;

  Task<ExtensionPointer> update(std::string id, Decide decide, InTransaction<Extension> in_transaction,
                                ExtensionOutbox::Rewrite rewrite = ExtensionOutbox::Rewrite::when_changed,
                                std::string run_id = {});
  Task<> require_replaceable(ExtensionPointer wanted);
  Task<ExtensionPointer> publish(ExtensionWrites writes,
                                 ExtensionOutbox::Rewrite rewrite = ExtensionOutbox::Rewrite::when_changed,
                                 std::string run_id = {});
  void take_over_directories(Connection& connection);
  /// Updates the record of an agent or job if a person has edited its file, as in `reseed`, before a change that would
  /// otherwise overwrite the edit.
  Task<> take_over_edit(std::string id);
  Task<> take_over_edits();
  Task<std::vector<std::string>> take_over_findings(DirectoryFindings findings);
  std::vector<ExtensionPointer> file_backed() const;
  enum class Origin { here, another_node };
  /// `before`: null if it is not known.
  void announce(const Extension& extension, const ExtensionPointer& before, ExtensionAction action,
                const std::string& run_id, Origin origin = Origin::here) const;
  bool add_holders_of_names(const std::vector<extension_store::Row>& rows, std::vector<std::string>& ids) const;
  void require_agent_of_job(ExtensionType type, const json::object& definition, const Extension* current) const;
  /// Replaces an agent's name by its id; leaves other values unchanged.
  std::optional<std::string> agent_id_of(std::optional<std::string> id_or_name) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  std::unique_ptr<Registry> registry_;
  ExtensionOutbox* outbox_;
  std::vector<std::string> warnings_;  ///< of the last comparison
};

/// The endpoints of extensions and of the schemas of their definitions.
std::vector<Route> extension_routes(Extensions& extensions, const NameCheck& names);

/// The endpoints of the files that extensions have on disk.
std::vector<Route> extension_file_routes(Extensions& extensions, ExtensionFiles& files);

/// ListExtensions, CreateExtension, UpdateExtension. Extensions that an agent creates belong to it and, below
/// sovereign, start disabled. Changes that the agent may not make itself become proposals. At any stage, so do changes
/// that could widen its limits or reach a secret.
std::vector<Tool> extension_tools(Extensions& extensions);

}  // namespace agw
