#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/research/iteration_services.hpp"
#include "features/research/scripts.hpp"
#include "features/research/types.hpp"

namespace agw {

class Iteration;
struct InterruptedIteration;

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
  };
  Research(Loop& loop, Sandbox& sandbox, const IterationServices& services, Options options, ResearchLinks links);
  ~Research();

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
  Task<> iterate(IterationPointer iteration);
  Task<> record_interrupted(const InterruptedIteration& iteration, std::string problem);
  Task<std::string> latest_metric(std::string domain);

  const IterationServices services_;
  const Options options_;
  const ResearchLinks links_;
  Scripts scripts_;
  std::vector<InterruptedIteration> interrupted_;
  std::vector<IterationPointer> under_way_;
  bool stopping_ = false;
  Group work_;
};

}  // namespace agw
