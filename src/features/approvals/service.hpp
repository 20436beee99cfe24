#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/approvals/types.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/permissions/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Tool;
class Stages;
struct Route;
struct Settings;
class Connection;
class Database;

/// A call or question for a person to decide on.
struct AskedCall {
  PermissionKind kind = PermissionKind::permission;
  ActiveRunPointer run{};  ///< the run that publishes its events
  std::string agent_id{};
  std::string agent{};
  std::string tool{};
  json::object input{};
  std::string target{};
  std::string reason{};
  std::string diff{};
  bool can_propose = false;
  std::optional<std::string> pattern{};  ///< nullopt: it can be allowed only once
  std::optional<AskedQuestion> question{};
};

/// Calls and questions that wait for a person, and permissions that persons have granted for longer. Used on the loop.
class Approvals : private Subscriber {
public:
  /// Limits: per run, the requests that wait or were not allowed; in all, the requests that wait; per agent, the
  /// grants.
  static constexpr std::size_t max_of_run = 20;
  static constexpr std::size_t max_waiting = 200;
  static constexpr std::size_t max_grants_of_agent = 500;
  /// A request that is too long to be shown in full is not made. The limit in bytes for input, diff and question
  /// together.
  static constexpr std::size_t max_shown_size = 256 * 1024;

  struct Options {
    bool asks = true;      ///< false: agents ask for no permission
    bool is_node = false;  ///< other nodes use the same database
    std::chrono::milliseconds patience = std::chrono::minutes(10);
    std::chrono::days kept{90};                                       ///< how long decided requests are kept
    std::chrono::milliseconds retry_after = std::chrono::seconds(1);  ///< a failed deletion of grants that have ended
  };
  Approvals(Loop& loop, Database& database, Hub& hub, const Clock& clock, Runs& runs, Threads& threads,
            Options options);
  ~Approvals() override;
  Approvals(const Approvals&) = delete;
  Approvals& operator=(const Approvals&) = delete;

  /// Before the loop runs: ends requests that a killed gateway left undecided, reads the grants, and ends those whose
  /// end it could not store.
  void load(Connection& connection);
  /// Replaces the patience with requests that are made from now on.
  void wait_up_to(std::chrono::milliseconds patience) { options_.patience = patience; }

  /// Inside a write: ends requests that a killed gateway left undecided.
  static void end_interrupted(Connection& connection, Timestamp now);
  /// Reads the grants again, because another node may have changed them.
  Task<> refresh();
  Task<> stop();

  /// Whether an agent with that record asks for permission.
  bool asks(const Extension& agent) const;
  /// Whether a connected client can answer requests of the thread.
  bool can_be_answered(std::string_view thread_id) const { return hub_.is_answered(thread_id); }

  /// Whether the limit of the run, or of all runs together, is reached. Further requests are denied.
  bool is_full(const ActiveRun& run) const;

  /// Asks a person and waits for a decision, the timeout, or a request of `stop`. Returns the decided request; nullopt
  /// if the person was not asked, because `is_full`, or because the request is too long to be shown.
  /// Example: src/features/approvals/service_test.cpp: Approvals.ReturnWhatAPersonDecided
  Task<std::optional<PermissionRequest>> ask(AskedCall call, StopSource& stop);

  /// Called before the run ends: ends its waiting requests as denied, and rejects new ones.
  Task<> end_those_of(ActiveRunPointer run);

  /// The waiting requests, oldest first.
  std::vector<PermissionRequest> waiting(const PermissionFilter& filter) const;
  /// The waiting requests, including those of other nodes.
  Task<std::vector<PermissionRequest>> list(PermissionFilter filter);
  /// Throws NotFound `permission request not found` unless there is, or was, a request with that id.
  Task<> require(std::string id);
  /// Decides a request, exactly once. Throws NotFound `permission request not found`, Conflict `permission request
  /// already decided`, BadRequest `decision is required` or `decision not possible`.
  Task<PermissionRequest> decide(std::string id, DecidePermission wanted,
                                 InTransaction<PermissionRequest> in_transaction = {});

  /// Returns the patterns granted to an agent in a thread; null if there are none.
  GrantedPatterns grants_for(std::string_view agent_id, std::string_view thread_id) const;
  /// Returns the grants of an agent, oldest first.
  std::vector<Grant> grants_of(std::string_view agent_id) const;
  /// Revokes a grant. Throws NotFound `grant not found`. If the write fails, the grant stays in force.
  Task<> revoke(std::string agent_id, std::string id);

private:
  struct Waiting;
  using WaitingPointer = std::shared_ptr<Waiting>;

  WaitingPointer find(std::string_view id) const;
  WaitingPointer open(AskedCall call);
  Task<> wait(const WaitingPointer& waiting, StopSource& stop);
  Task<> end_undecided(WaitingPointer waiting, DecidedBy by);
  void record_decision(const WaitingPointer& waiting, PermissionRequest decided);
  void publish_decision(const Waiting& waiting);
  std::optional<Grant> grant_of(const PermissionRequest& request) const;
  void forget_where(const std::function<bool(const Grant&)>& condition);
  void forget(std::vector<std::string> ids);
  Task<> delete_ended();
  void deliver(const DomainEvent& event) override;

  Loop& loop_;
  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Runs& runs_;
  Options options_;
  std::deque<WaitingPointer> waiting_;  ///< oldest first
  std::vector<Grant> grants_;
  std::vector<std::string> ended_;  ///< grants that have ended, but are still in the database
  bool is_deleting_ = false;        ///< `delete_ended` runs
  StopSource stopping_;
  TaskGroup background_;
  Hub::Listening listening_;
};

/// `/permissions` and `/agents/:name/grants`.
std::vector<Route> approval_routes(Approvals& approvals, Stages& stages);

/// The tool AskUser: asks the person whose message the run answers.
Tool ask_user_tool();

/// The options in the configuration and in the environment of tests.
Approvals::Options approval_options(const Settings& settings);

}  // namespace agw
