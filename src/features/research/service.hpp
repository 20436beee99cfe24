#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/research/iteration_services.hpp"
#include "features/research/scripts.hpp"
#include "features/research/types.hpp"

namespace agw {

class Jobs;
struct Route;
class Iteration;
struct InterruptedIteration;

/// Lets an agent improve a file, judged only by measurements: the file is measured, changed, checked, measured again,
/// and restored unless it got better. Improvements of an agent below `trusted` become proposals.
class Research {
public:
  struct Options {
    std::filesystem::path home;  ///< both must be resolved
    std::filesystem::path data_directory;
  };
  Research(Loop& loop, Sandbox& sandbox, const IterationServices& services, Options options);
  ~Research();

  /// Before the loop runs: finds the iterations that a kill interrupted.
  void load(Connection& connection);
  /// Before anything else runs: restores the assets and records that these iterations crashed.
  Task<> recover();
  /// Ends the active iterations, and returns once their assets are restored.
  Task<> stop();

  /// Starts an iteration, which first waits for earlier ones of the same domain or asset. Throws BadRequest `invalid
  /// domain config` or `path must be within home directory: <path>`, Forbidden `permission denied`, Conflict `too many
  /// iterations wait`.
  Task<IterationStarted> run(json::object body, InTransaction<IterationStarted> in_transaction = {});

  /// Runs one iteration after the other, until the confidence is high or there are too many discards (`ResearchPlan`).
  /// Returns a report for people; if `dry`, of what it would do. Throws BadRequest `invalid domain config`, what `run`
  /// throws for each iteration, and Conflict `iteration is already running` for the same domain or asset. `run_id` is
  /// the run that ordered the series, and the cause of its events.
  Task<std::string> run_until_clear(json::object settings, std::string run_id, bool dry, StopSource& stop);

private:
  using IterationPointer = std::shared_ptr<Iteration>;

  std::optional<ResearchProject> project_of(const std::filesystem::path& file) const;
  std::filesystem::path kept_path(const std::string& iteration_id) const;
  enum class IfTaken { wait, refuse };
  /// Whether an iteration in progress has the same domain or asset. Checks only those that precede `before`, if given.
  bool is_taken(const DomainConfig& config, const Iteration* before = nullptr) const;
  Task<IterationPointer> open(DomainConfig config, std::string ordering_run_id, IfTaken if_taken,
                              InTransaction<IterationStarted> in_transaction);
  Task<> iterate(IterationPointer iteration);
  Task<> wait_for_turn(IterationPointer iteration);
  void leave(const IterationPointer& iteration);
  Task<> archive_thread(const InterruptedIteration& iteration);
  Task<> record_interrupted(const InterruptedIteration& iteration, std::string problem);
  Task<std::string> latest_metric(std::string domain);

  const IterationServices services_;
  const Options options_;
  Scripts scripts_;
  std::vector<InterruptedIteration> interrupted_;
  std::vector<IterationPointer> in_progress_;  ///< in the order in which they were started
  AsyncEvent queue_changed_;                   ///< pulsed when an iteration has ended or was stopped
  bool stopping_ = false;
  TaskGroup work_;
};

/// `/autoresearch/run`.
std::vector<Route> research_routes(Research& research);

/// Makes jobs with the settings `research` run a series of iterations. `research` must outlive `jobs`.
void handle_research_jobs(Jobs& jobs, Research& research);

}  // namespace agw
