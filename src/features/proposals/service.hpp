#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "base/time_zone.hpp"
#include "features/extensions/service.hpp"
#include "features/proposals/types.hpp"
#include "io/blocking.hpp"
#include "storage/along.hpp"
#include "tools/tool.hpp"

namespace agw {

class Connection;
class Database;
class Hub;
class ProposalFiles;
struct ProposalDecision;
struct ListedProposal;
struct ProposalFile;
struct TargetPlace;

/// What proposals need of rooms that this one cannot see. Asked on the loop.
struct ProposalLinks {
  std::function<std::vector<std::filesystem::path>()> projects;  ///< where they lie: absolute, resolved
  /// That an answer which was kept for repetitions is not to be given: the decision was taken back.
  std::function<void(Connection&, const ProposalDecided&)> forget = [](Connection&, const ProposalDecided&) {};
};

/// Changes that wait for a person's decision. Each is a file that anybody can read and write; a decision is noted in
/// the database before it touches anything, and what a kill interrupts is finished by the next start.
class Proposals {
public:
  struct Options {
    std::filesystem::path data_directory;
    std::chrono::days kept{90};  ///< how long decided ones are
    /// Called on the loop before each step of a decision: tests end the process there.
    std::function<void(std::string_view step)> before_step{};
  };
  Proposals(Loop& loop, Database& database, Hub& hub, const Clock& clock, Extensions& extensions, Options options,
            ProposalLinks links);
  ~Proposals();
  Proposals(const Proposals&) = delete;
  Proposals& operator=(const Proposals&) = delete;

  /// Before the loop runs: finds the decisions that a killed gateway left under way.
  void load(Connection& connection);
  /// Before anything else runs: finishes them.
  Task<> recover();
  /// Once others listen: tells what `recover` has decided.
  Task<> tell_recovered();
  /// Forgets old ones from time to time, until `stop` has returned.
  void start();
  Task<> stop();

  /// The pending ones, newest first.
  Task<std::vector<ProposalEntry>> pending();
  /// Throws NotFound `proposal not found`, PayloadTooLarge `file too large`.
  Task<Proposal> require(ProposalAddress address);
  /// Throws NotFound `proposal not found`.
  Task<> check_exists(ProposalAddress address);

  /// Which targets may be proposed: those that can be applied, or also those that first must become a project's.
  enum class Targets { applicable, any };
  /// Writes a proposal of the agent of that name, made in the run `run_id`, or of a program, without one, and gives its
  /// reference. Throws Forbidden for a target that no proposal may change, BadRequest and PayloadTooLarge for what
  /// cannot be one.
  Task<std::string> stage(std::string agent, std::string run_id, StagedChange change,
                          Targets targets = Targets::applicable);

  /// Makes the change. Throws NotFound, BadRequest `validation failed`, Forbidden `path outside home directory`,
  /// Conflict `proposal already applied` or `proposal already rejected`, PayloadTooLarge, and for extensions what
  /// Extensions throws; the proposal is then pending as before.
  Task<ProposalDecided> apply(ProposalAddress address, ApplyProposal wanted, Along<ProposalDecided> along = {});
  /// Throws NotFound, Conflict, BadRequest `failed to reject proposal`.
  Task<ProposalDecided> reject(ProposalAddress address, RejectProposal wanted, Along<ProposalDecided> along = {});

private:
  class Deciding;
  enum class Attempt { first, again };
  using File = std::shared_ptr<const ProposalFile>;

  /// A target as it is.
  struct Current {
    std::optional<std::string> text{};  ///< none where there is no file
    bool is_shown = true;               ///< not so where it is no text, or too large
    std::optional<Timestamp> changed_at{};
  };

  // What there is: service.cpp.
  Task<File> require_file(ProposalAddress address);
  Task<std::optional<TargetPlace>> find_place(std::string target);
  Task<Current> look_at(TargetPlace place);
  static std::string id_of(const Current& current);
  static bool has_changed(const ProposalFile& file, const Current& current);
  Task<std::vector<ListedProposal>> look();
  Task<> announce(std::string type, ProposalAddress address, std::string run_id = {});
  Task<> forget_old_ones();

  // A decision: deciding.cpp.
  Task<ProposalDecided> decide(ProposalDecision decision, Along<ProposalDecided> along);
  Task<> carry_out(const ProposalDecision& decision, Attempt attempt);
  Task<> change_target(const ProposalDecision& decision);
  Task<std::string> proposer(ProposalAddress address);
  Task<bool> undo(const ProposalDecision& decision);
  Task<ProposalDecided> record(const ProposalDecision& decision);
  void step(std::string_view name) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Extensions& extensions_;
  const Options options_;
  const ProposalLinks links_;
  const TimeZone zone_;
  const std::filesystem::path data_directory_;
  std::shared_ptr<ProposalFiles> files_;  ///< used on `disk_` only
  BlockingPool disk_;                     ///< one thread: what is read and written is done in order
  std::vector<ProposalDecision> interrupted_;
  std::vector<ProposalAddress> recovered_;
  std::map<ProposalAddress, ProposalStatus> deciding_;  ///< under way
  Stop stopping_;
  Group background_;
};

}  // namespace agw
