#pragma once

#include <string>
#include <vector>

#include "features/briefings/types.hpp"
#include "features/jobs/types.hpp"

namespace agw {

/// The data of a briefing. Equal facts give equal briefings.
struct BriefingFacts {
  std::vector<BriefingEntry> threads;
  std::vector<BriefingEntry> jobs;
  std::vector<BriefingEntry> proposals;
  double costs = 0;
  std::vector<std::string> highlights;
  std::size_t failed_runs = 0;
  std::size_t stopped_runs = 0;

  bool operator==(const BriefingFacts&) const = default;
};

/// Adds runs to the entries and the counts.
void add_runs(BriefingFacts& facts, const std::vector<JobRun>& runs);

/// The newest entries, which a briefing lists.
std::vector<BriefingEntry> latest(const std::vector<BriefingEntry>& entries);

/// A few sentences, written without a model: the work done, and what is still open.
std::string plain_summary(const BriefingFacts& facts);

/// The report of the self-reflect job without a model: the summary, and the one thing to look at. At most 900
/// characters.
std::string plain_reflection(const BriefingFacts& facts);

/// The prompt that asks a model for the summary.
std::string summary_request(const BriefingFacts& facts);

}  // namespace agw
