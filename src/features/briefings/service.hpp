#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/briefings/facts.hpp"
#include "features/costs/background_completions.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/service.hpp"
#include "features/projects/service.hpp"
#include "features/proposals/service.hpp"
#include "features/signals/service.hpp"
#include "features/threads/service.hpp"

namespace agw {

struct Route;

/// Summaries of the last day: the work of agents, open tasks, and what needs attention.
class Briefings {
public:
  Briefings(Loop& loop, const Clock& clock, Signals& signals, Projects& projects, Extensions& extensions,
            Threads& threads, Costs& costs, BackgroundCompletions& completions, Proposals& proposals, Jobs& jobs);

  /// Returns the briefing of one project, or of all. The first one is made immediately, without a model; later ones
  /// come from the cache. A stale one (older than 15 minutes, or with changed facts) is replaced in the background,
  /// with a summary by the model if one is configured. Throws NotFound `project not found`.
  Task<Briefing> briefing(std::optional<std::string> project_id);

  Task<Pulse> pulse();

  /// Throws BadRequest `invalid agent name`, NotFound `agent not found`.
  ExtensionPointer require_agent(std::string_view id_or_name) const;
  /// The newest turns of all the agent's threads, newest first.
  Task<std::vector<ActivityRow>> activity(ExtensionPointer agent, Limit limit);

  /// The report of the self-reflect job without a model.
  Task<std::string> reflect();

  Task<> stop();

private:
  struct Cached {
    BriefingFacts facts;
    Briefing briefing;
    Timestamp written_at{};  ///< when a model was last called
  };

  Task<BriefingFacts> gather(std::optional<std::string> project_id);
  Task<std::vector<std::string>> highlights();
  Task<std::vector<BriefingEntry>> pending_proposals();
  Task<double> cost_today();
  Task<std::optional<std::string>> latest_reflection();
  Task<std::optional<std::string>> output_of(JobRun run);
  Task<> refresh(std::optional<std::string> project_id);
  Cached& cache(const std::optional<std::string>& project_id, BriefingFacts facts);

  const Clock& clock_;
  Signals& signals_;
  Projects& projects_;
  Extensions& extensions_;
  Threads& threads_;
  Costs& costs_;
  BackgroundCompletions& completions_;
  Proposals& proposals_;
  Jobs& jobs_;
  std::map<std::string, Cached> cache_;  ///< by project; empty for all
  std::set<std::string> being_made_;
  StopSource stopping_;
  TaskGroup background_;
};

/// `/briefing`, `/pulse/briefing`, and the activity of agents.
std::vector<Route> briefing_routes(Briefings& briefings);

/// Makes the shipped job `self-reflect` report without a model if no model is configured. `briefings` must outlive
/// `jobs`.
void handle_reflection_job(Jobs& jobs, Briefings& briefings);

}  // namespace agw
