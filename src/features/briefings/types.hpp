#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// A thread, run or proposal in a briefing.
struct BriefingEntry {
  std::string id;
  std::string title;
  Timestamp at;

  bool operator==(const BriefingEntry&) const = default;
};
const Description& describe(Tag<BriefingEntry>);

/// The events of the last day, and open tasks.
struct Briefing {
  std::optional<std::string> project_id;
  Timestamp generated_at;
  bool stale = false;  ///< a newer one is in progress
  std::string summary;
  std::vector<BriefingEntry> threads;    ///< changed ones, newest change first
  std::vector<BriefingEntry> jobs;       ///< runs, newest first
  std::vector<BriefingEntry> proposals;  ///< waiting for a decision
  double costs = 0;                      ///< USD, today
  std::vector<std::string> highlights;   ///< signals of the last day
};
const Description& describe(Tag<Briefing>);

/// The query of `GET /briefing`.
struct BriefingQuery {
  std::optional<std::string> project_id;
};
const Description& describe(Tag<BriefingQuery>);

/// The response to `GET /pulse/briefing`.
struct Pulse {
  std::string prose;
  std::vector<std::string> highlights;
  std::int64_t proposalCount = 0;
  bool selfReflectAvailable = false;
};
const Description& describe(Tag<Pulse>);

/// The query of `GET /agents/:name/activity`.
struct ActivityQuery {
  Limit limit{20};
};
const Description& describe(Tag<ActivityQuery>);

}  // namespace agw
