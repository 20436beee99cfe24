#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/agents/service.hpp"
#include "features/costs/service.hpp"
#include "features/engine/service.hpp"
#include "features/experiments/service.hpp"
#include "features/proposals/service.hpp"
#include "features/research/types.hpp"
#include "io/blocking.hpp"
#include "io/sandbox.hpp"
#include "models/catalog.hpp"

namespace agw {

struct AgentAnswer;
struct Iteration;
struct InterruptedIteration;
struct Measured;
class Scripts;
struct ScriptEnd;

/// The project that a file lies in.
struct ResearchProject {
  std::string id;
  std::filesystem::path path;
};

/// What research asks of rooms that are made elsewhere.
struct ResearchLinks {
  std::function<std::optional<ResearchProject>(const std::filesystem::path& file)> project_of;
};

/// Lets an agent improve a file, and believes only what is measured: the file is measured, changed, checked, measured
/// again, and left as it was unless it got better. What an agent below `trusted` has made better becomes a proposal.
class Research {
public:
  struct Options {
    std::filesystem::path home;  ///< both resolved
    std::filesystem::path data_directory;
    std::chrono::milliseconds benchmark_limit{600'000};
    std::chrono::milliseconds checks_limit{300'000};
  };
  Research(Loop& loop, Database& database, Hub& hub, const Clock& clock, BlockingPool& blocking, Sandbox& sandbox,
           Extensions& extensions, Stages& stages, Threads& threads, Models& models, Costs& costs, Engine& engine,
           Experiments& experiments, Proposals& proposals, Options options, ResearchLinks links);
  ~Research();
  Research(const Research&) = delete;
  Research& operator=(const Research&) = delete;

  /// Before the loop runs: finds what a kill interrupted.
  void load(Connection& connection);
  /// Before anything else runs: puts the assets back and records that these iterations crashed.
  Task<> recover();
  /// Ends what is under way, once each asset is what it was.
  Task<> stop();

  /// Begins an iteration. Throws BadRequest `invalid domain config` or `path must be within home directory: <path>`,
  /// Forbidden `permission denied`, Conflict `iteration is already running` for its domain or its asset.
  Task<IterationStarted> run(json::object body, Along<IterationStarted> along = {});

  /// One iteration after the other, until the confidence is high or discards pile up (`ResearchPlan`); gives a report
  /// for people. Throws BadRequest `invalid domain config`, and for each iteration as `run` does. Dry, only tells of
  /// what. `run_id` is of the run that orders it: what the iterations do counts as its doing.
  Task<std::string> run_until_clear(json::object settings, std::string run_id, bool dry, Stop& stop);

private:
  using IterationPointer = std::shared_ptr<Iteration>;

  std::filesystem::path kept_path(const std::string& iteration_id) const;
  void check_free(const DomainConfig& config) const;
  Task<IterationPointer> open(DomainConfig config, std::string ordering_run_id, Along<IterationStarted> along);
  Task<> record_interrupted(const InterruptedIteration& iteration, std::string problem);
  Task<std::string> latest_metric(std::string domain);
  void tell(const Iteration& iteration, IterationStep step, const Experiment* experiment = nullptr);

  // The story of an iteration: iterating.cpp.
  Task<> iterate(IterationPointer iteration);
  Task<> attempt(Iteration& iteration);
  Task<> prepare(Iteration& iteration);
  Task<bool> passes_checks(Iteration& iteration);
  Task<> decide(Iteration& iteration, const Measured& before, const Measured& after);
  Task<> propose(Iteration& iteration);
  Task<> note_asset(Iteration& iteration);
  Task<> put_back(Iteration& iteration);
  Task<> put_back_or_leave(Iteration& iteration);
  Task<bool> put_back_at_last(Iteration& iteration);
  Task<> end(IterationPointer iteration);
  Task<bool> record(const Iteration& iteration, bool is_put_back);
  Task<> put_away(Iteration& iteration);

  // Its parts: measuring.cpp and changing.cpp.
  Task<Measured> measure(Iteration& iteration);
  Task<ScriptEnd> run_script(Iteration& iteration, std::string path, std::chrono::milliseconds limit,
                             std::function<void(std::string_view)> on_output = {});
  Task<Measured> score(Iteration& iteration);
  Task<std::string> ask_model(Iteration& iteration, std::string question);
  Task<> record_spendings(Iteration& iteration);
  Task<bool> change(Iteration& iteration, const Measured& before);
  Task<std::string> change_request(const Iteration& iteration, const Measured& before);
  Task<AgentAnswer> have_agent_work(Iteration& iteration, std::string prompt);

  Loop& loop_;
  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  BlockingPool& blocking_;
  Extensions& extensions_;
  Stages& stages_;
  Threads& threads_;
  Models& models_;
  Costs& costs_;
  Engine& engine_;
  Experiments& experiments_;
  Proposals& proposals_;
  const Options options_;
  const ResearchLinks links_;
  std::unique_ptr<Scripts> scripts_;
  std::vector<InterruptedIteration> interrupted_;
  std::vector<IterationPointer> under_way_;
  bool stopping_ = false;
  Group work_;
};

}  // namespace agw
