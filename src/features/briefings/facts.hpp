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

/// The newest entries, as listed in a briefing.
std::vector<BriefingEntry> latest(const std::vector<BriefingEntry>& entries);

/// Returns a summary of a few sentences, written without a model: the finished work and the open tasks.
std::string plain_summary(const BriefingFacts& facts);

/// Returns the report of the self-reflect job without a model: the summary and the most important task. At most 900
/// characters.
std::string plain_reflection(const BriefingFacts& facts);

/// Returns the prompt for a summary by a model.
std::string summary_request(const BriefingFacts& facts);

}  // namespace agw
