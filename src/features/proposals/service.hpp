#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/time/time_zone.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/proposals/types.hpp"
#include "io/process/blocking.hpp"
#include "storage/in_transaction.hpp"
#include "tools/tool.hpp"

namespace agw {

struct Route;
class Connection;
class Database;
class ProposalFiles;
struct ProposalDecision;
struct ListedProposal;
struct ProposalFile;
struct TargetPlace;

/// Changes that wait for a person's decision. Each is a file that people and agents can read and write. A decision is
/// recorded in the database before anything changes; if a kill interrupts it, the next start completes it.
/// Example: src/features/proposals/crash_test.cpp: ProposalCrash.AKillAtAnyStepOfAnApplicationLeavesItPendingOrApplied
class Proposals : private Subscriber {
public:
  struct Options {
    std::filesystem::path data_directory;
    std::chrono::days kept{90};  ///< how long decided proposals are kept
    /// Called on the loop before each step of a decision: tests kill the process there.
    std::function<void(std::string_view step)> before_step{};
  };
  Proposals(Loop& loop, Database& database, Hub& hub, const Clock& clock, const Projects& projects,
            Extensions& extensions, Options options);
  ~Proposals() override;
  Proposals(const Proposals&) = delete;
  Proposals& operator=(const Proposals&) = delete;

  /// Before the loop runs: finds the decisions that a kill interrupted.
  void load(Connection& connection);
  /// Before anything else runs: completes these decisions. Their events are published after `gateway.started`, when
  /// triggers are active.
  Task<> recover();
  /// Deletes old decided proposals periodically, until `stop` has returned.
  void start();
  Task<> stop();

  /// For work on long texts of proposals.
  BlockingPool& disk() { return disk_; }

  /// The pending proposals, newest first.
  Task<std::vector<ProposalEntry>> pending();
  /// Throws NotFound `proposal not found`, PayloadTooLarge `file too large`.
  Task<Proposal> require(ProposalAddress address);
  /// Throws NotFound `proposal not found`.
  Task<> check_exists(ProposalAddress address);

  /// Which targets are accepted: only those that can be applied now, or also those whose directory is not a project
  /// yet.
  enum class Targets { applicable, any };
  /// Writes a proposal of the agent with that name, made in the run `run_id` (empty for a program's), and returns its
  /// reference. Throws Forbidden for a target that no proposal may change, BadRequest and PayloadTooLarge for an
  /// invalid proposal.
  Task<std::string> stage(std::string agent, std::string run_id, StagedChange change,
                          Targets targets = Targets::applicable);

  /// Applies the change. Throws NotFound, BadRequest `validation failed`, Forbidden `path outside home directory`,
  /// Conflict `proposal already applied` or `proposal already rejected`, PayloadTooLarge, and for extensions what
  /// Extensions throws. The proposal then stays pending.
  Task<ProposalDecided> apply(ProposalAddress address, ApplyProposal wanted,
                              InTransaction<ProposalDecided> in_transaction = {});
  /// Throws NotFound, Conflict, BadRequest `failed to reject proposal`.
  Task<ProposalDecided> reject(ProposalAddress address, RejectProposal wanted,
                               InTransaction<ProposalDecided> in_transaction = {});

private:
  class Deciding;
  enum class Attempt { first, again };
  using File = std::shared_ptr<const ProposalFile>;

  /// The current state of a target.
  struct Current {
    std::optional<std::string> text{};  ///< no value if there is no file
    bool is_shown = true;               ///< false if it is not text, or too large
    std::optional<Timestamp> changed_at{};
  };

  // Listing and reading: service.cpp.
  Task<File> require_file(ProposalAddress address);
  Task<File> require_readable(ProposalAddress address);
  Task<std::optional<TargetPlace>> find_place(std::string target);
  Task<Current> inspect(TargetPlace place);
  static std::string id_of(const Current& current);
  static bool has_changed(const ProposalFile& file, const Current& current);
  Task<std::vector<std::shared_ptr<const ListedProposal>>> scan();
  void deliver(const DomainEvent& event) override;
  Task<> announce_recovered();
  Task<> announce(std::string_view type, ProposalAddress address, std::string run_id = {});
  Task<> forget_old_ones();

  // Deciding: deciding.cpp.
  /// `ended`: the decisions that had ended before the proposal was read.
  Task<ProposalDecided> decide(ProposalDecision decision, std::uint64_t ended,
                               InTransaction<ProposalDecided> in_transaction);
  Task<> carry_out(const ProposalDecision& decision, Attempt attempt);
  Task<> change_target(const ProposalDecision& decision);
  Task<std::string> proposer(ProposalAddress address);
  Task<bool> undo(const ProposalDecision& decision);
  Task<ProposalDecided> record(const ProposalDecision& decision);
  void step(std::string_view name) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  const Projects& projects_;
  Extensions& extensions_;
  const Options options_;
  const TimeZone zone_;
  const std::filesystem::path data_directory_;
  std::shared_ptr<ProposalFiles> files_;  ///< used only on `disk_`
  BlockingPool disk_;                     ///< one thread, so reads and writes stay in order
  std::vector<ProposalDecision> interrupted_;
  std::vector<ProposalAddress> recovered_;
  std::map<ProposalAddress, ProposalStatus> deciding_;  ///< decisions in progress
  std::uint64_t ended_ = 0;                             ///< decisions that have ended
  StopSource stopping_;
  TaskGroup background_;
  Hub::Listening listening_;
};

/// `/proposals` and `/propose`.
std::vector<Route> proposal_routes(Proposals& proposals);

/// `Propose`: stages a change for a person to decide on.
Tool propose_tool();

}  // namespace agw
