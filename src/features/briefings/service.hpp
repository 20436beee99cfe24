#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/briefings/facts.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/service.hpp"
#include "features/projects/service.hpp"
#include "features/signals/service.hpp"
#include "features/threads/service.hpp"

namespace agw {

/// What briefings ask of rooms that they cannot see. What is empty counts as nothing.
struct BriefingLinks {
  /// The proposals that wait for a decision.
  std::function<Task<std::vector<BriefingEntry>>()> proposals;
  /// USD spent since local midnight.
  std::function<Task<double>()> cost_today;
  /// Has the default model answer `request` under `instructions`; nothing where none is configured or it fails.
  std::function<Task<std::optional<std::string>>(std::string instructions, std::string request, Stop& stop)> write;
};

/// Looks back: what agents did, what stands open, what needs attention.
class Briefings {
public:
  Briefings(Loop& loop, const Clock& clock, Signals& signals, Projects& projects, Extensions& extensions,
            Threads& threads, Jobs& jobs, BriefingLinks links);

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
  Task<std::vector<BriefingEntry>> proposals();
  Task<std::optional<std::string>> latest_reflection();
  Task<std::optional<std::string>> output_of(JobRun run);
  Task<> make_anew(std::optional<std::string> project_id);
  Cached& keep(const std::optional<std::string>& project_id, BriefingFacts facts);

  const Clock& clock_;
  Signals& signals_;
  Projects& projects_;
  Extensions& extensions_;
  Threads& threads_;
  Jobs& jobs_;
  BriefingLinks links_;
  std::map<std::string, Cached> cache_;  ///< by project; empty for all
  std::set<std::string> being_made_;
  Stop stopping_;
  Group background_;
};

}  // namespace agw
