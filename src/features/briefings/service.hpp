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

/// Looks back: what agents did, what stands open, what needs attention.
class Briefings {
public:
  Briefings(Loop& loop, const Clock& clock, Signals& signals, Projects& projects, Extensions& extensions,
            Threads& threads, Costs& costs, BackgroundCompletions& completions, Proposals& proposals, Jobs& jobs);

  /// Of one project, or of all. The first is made at once, by plain rules; later ones come from the cache, and one that
  /// is stale (older than 15 minutes, or what it counts has changed) is made anew in the background, its summary by the
  /// model where one is configured. Throws NotFound `project not found`.
  Task<Briefing> briefing(std::optional<std::string> project_id);

  Task<Pulse> pulse();

  /// Throws BadRequest `invalid agent name`, NotFound `agent not found`.
  ExtensionPointer require_agent(std::string_view id_or_name) const;
  /// The newest turns of all the agent's threads, newest first.
  Task<std::vector<ActivityRow>> activity(ExtensionPointer agent, Limit limit);

  /// The report of the job self-reflect where there is no model.
  Task<std::string> reflect();

  Task<> stop();

private:
  struct Cached {
    BriefingFacts facts;
    Briefing briefing;
    Timestamp written_at{};  ///< when a model was asked last
  };

  Task<BriefingFacts> gather(std::optional<std::string> project_id);
  Task<std::vector<std::string>> highlights();
  Task<std::vector<BriefingEntry>> pending_proposals();
  Task<double> cost_today();
  Task<std::optional<std::string>> latest_reflection();
  Task<std::optional<std::string>> output_of(JobRun run);
  Task<> make_anew(std::optional<std::string> project_id);
  Cached& keep(const std::optional<std::string>& project_id, BriefingFacts facts);

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

}  // namespace agw
