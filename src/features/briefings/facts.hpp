#pragma once

#include <string>
#include <vector>

#include "features/briefings/types.hpp"
#include "features/jobs/types.hpp"

namespace agw {

/// What a briefing counts. Two of them are equal where a briefing would say the same.
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

/// Takes runs over as entries and counts.
void add_runs(BriefingFacts& facts, const std::vector<JobRun>& runs);

/// Those that are shown of what is counted.
std::vector<BriefingEntry> latest(const std::vector<BriefingEntry>& entries);

/// A few sentences, by plain rules: what was done, what stands open.
std::string plain_summary(const BriefingFacts& facts);

/// What the job self-reflect reports without a model: the summary, and the one thing to look at. At most 900
/// characters.
std::string plain_reflection(const BriefingFacts& facts);

/// What a model is asked to make the summary of.
std::string summary_request(const BriefingFacts& facts);

}  // namespace agw
