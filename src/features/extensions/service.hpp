#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.hpp"
#include "features/extensions/judging.hpp"
#include "features/extensions/outbox.hpp"
#include "features/extensions/types.hpp"
#include "storage/along.hpp"

namespace agw {

class Connection;
class Database;
class Hub;
class Registry;
struct ExtensionWrites;

/// Somebody whose own state follows extensions: armed triggers, connected servers. A change is told once it is on disk
/// and in the registry, before anybody else hears of it, on the loop. Must not block and must not throw. At the start
/// nothing is told: look at the registry.
class ExtensionObserver {
public:
  virtual ~ExtensionObserver() = default;
  /// `extension` is the record after the change; a deleted one as it last was. `run_id` is of the run whose agent made
  /// the change; empty where no agent did.
  virtual void extension_changed(const Extension& extension, ExtensionAction action, const std::string& run_id) = 0;
};

/// The extensions: the rules of their records, and the registry that answers from memory.
///
/// What is decided about a record is decided where it is written, and the registry follows in the order of the commits,
/// before the caller resumes. Each change is published as `extension-changed`.
class Extensions {
public:
  Extensions(Database& database, Hub& hub, const Clock& clock);
  ~Extensions();
  Extensions(const Extensions&) = delete;
  Extensions& operator=(const Extensions&) = delete;

  /// Before `load`: agents and jobs have directories, which follow their records by way of `outbox`.
  void follow_with(ExtensionOutbox& outbox) { outbox_ = &outbox; }

  /// Before the loop runs: brings the shipped extensions into the database where they differ from those that it had,
  /// reads all, and takes over what people did to the directories meanwhile. Throws DatabaseError.
  void load(Connection& connection);

  /// Where all that goes by the name of an agent's or a job's directory is run, see ExtensionOutbox::disk. The name is
  /// looked up right before, with nothing awaited in between. Only behind `follow_with`.
  BlockingPool& disk() const { return outbox_->disk(); }

  /// Tells `observer` of every change from now on; it outlives this.
  void observe(ExtensionObserver& observer) { observers_.push_back(&observer); }

  // Looking. Null where there is none.

  ExtensionPointer find(std::string_view id) const;
  /// Ids come first.
  ExtensionPointer find_by_id_or_name(std::string_view id_or_name) const;
  /// The extension of that type, enabled or not.
  ExtensionPointer find(ExtensionType type, std::string_view id_or_name) const;
  ExtensionPointer find_agent(std::string_view id_or_name) const { return find(ExtensionType::agent, id_or_name); }
  /// Throws NotFound `extension not found`.
  ExtensionPointer require(std::string_view id_or_name) const;

  /// Throws NotFound `agent not found`.
  ExtensionPointer require_agent(std::string_view id_or_name) const;
  /// The agent that is to answer. Throws BadRequest `agent not found` or `agent is disabled`, with `agent_id`.
  ExtensionPointer require_enabled_agent(const std::string& id_or_name) const;
  /// Newest first.
  std::vector<ExtensionPointer> list(const ExtensionFilter& filter = {}) const;
  /// The same as a JSON array.
  std::string list_json(const ExtensionFilter& filter = {}) const;

  // Changing. Bodies are those of the API, also where tools or files are the callers: judged here, see judging.hpp for
  // the BadRequests. `along` runs in the same transaction. `run_id` is of the run whose agent makes the change.

  /// Throws Conflict `extension name already exists` (with `name`).
  Task<ExtensionPointer> create(json::object body, Along<Extension> along = {}, std::string run_id = {});
  /// Throws NotFound; Forbidden for a built-in (all but `enabled`) and for disabling an essential one; Conflict for a
  /// name that is taken and, where `if_updated_at` is another version's, `changed meanwhile`. A body that changes
  /// nothing leaves the record as it is. A person may leave out of a definition what its type requires, as the
  /// specification has it ("a PATCH that sends a partial definition does not fail").
  Task<ExtensionPointer> change(std::string id_or_name, json::object body, std::string run_id = {},
                                RequiredMembers required = RequiredMembers::checked);
  /// The same for an agent or job with the members of its file: the definition is replaced, `description`, `enabled`
  /// and `trigger` are changed where they are given, and the file is written in any case. Throws ApiError 500 `update
  /// failed` where it cannot be.
  Task<ExtensionPointer> overwrite(std::string id_or_name, json::object flat);
  /// Throws NotFound, Forbidden `cannot disable essential extensions`.
  Task<ExtensionPointer> toggle(std::string id_or_name, Along<Extension> along = {});
  /// For ever, built-ins too. Throws NotFound, Forbidden `cannot delete essential extensions`.
  Task<> remove(std::string id_or_name);

  /// Brings in what is shipped and what people did to the directories of agents and jobs. Answers what is broken there,
  /// and why.
  Task<std::vector<std::string>> reseed();

private:
  using Decide = std::function<ExtensionChange(const Extension& current)>;

  Task<ExtensionPointer> update(std::string id, Decide decide, Along<Extension> along,
                                ExtensionOutbox::Rewrite rewrite = ExtensionOutbox::Rewrite::when_changed,
                                std::string run_id = {});
  Task<> require_replaceable(ExtensionPointer wanted);
  Task<ExtensionPointer> publish(ExtensionWrites writes,
                                 ExtensionOutbox::Rewrite rewrite = ExtensionOutbox::Rewrite::when_changed,
                                 std::string run_id = {});
  void take_directories_over(Connection& connection);
  std::vector<ExtensionPointer> file_backed() const;
  void announce(const Extension& extension, ExtensionAction action, const std::string& run_id);
  /// An agent's name becomes its id; what names none stays.
  std::optional<std::string> agent_id_of(std::optional<std::string> id_or_name) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  std::unique_ptr<Registry> registry_;
  ExtensionOutbox* outbox_ = nullptr;
  std::vector<ExtensionObserver*> observers_;
};

}  // namespace agw
