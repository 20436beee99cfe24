#include "features/briefings/facts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/id.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t max_facts = 20;
constexpr std::size_t shown_title = 80;
constexpr std::size_t reflection_limit = 900;

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  if (count == 0) return fmt::format("no {}", many);
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

std::string run_text(const BriefingFacts& facts) {
  auto text = counted(facts.jobs.size(), "job run", "job runs");
  std::vector<std::string> ends;
  if (facts.failed_runs > 0) ends.push_back(fmt::format("{} failed", facts.failed_runs));
  if (facts.stopped_runs > 0) ends.push_back(fmt::format("{} stopped", facts.stopped_runs));
  if (!ends.empty()) text += fmt::format(" ({})", fmt::join(ends, ", "));
  return text;
}

/// A waiting run has only a time of creation.
Timestamp time_of(const JobRun& run) {
  if (run.finished_at) return *run.finished_at;
  return run.started_at ? *run.started_at : time_of_id(run.id).value_or(Timestamp{});
}

std::string title_of(const BriefingEntry& entry) { return std::string(first_characters(entry.title, shown_title)); }

void add_titles(std::string& text, std::string_view heading, const std::vector<BriefingEntry>& entries) {
  if (entries.empty()) return;
  text += fmt::format("\n{}:\n", heading);
  for (const auto& entry : latest(entries)) text += fmt::format("- {} ({})\n", title_of(entry), to_iso8601(entry.at));
}

}  // namespace

std::vector<BriefingEntry> latest(const std::vector<BriefingEntry>& entries) {
  return {entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(std::min(entries.size(), max_facts))};
}

void add_runs(BriefingFacts& facts, const std::vector<JobRun>& runs) {
  for (const auto& run : runs) {
    facts.jobs.push_back({run.id, fmt::format("{}: {}", run.job, to_text(run.status)), time_of(run)});
    if (run.status == JobRunStatus::failed) ++facts.failed_runs;
    if (run.status == JobRunStatus::stopped) ++facts.stopped_runs;
  }
}

std::string plain_summary(const BriefingFacts& facts) {
  auto text = fmt::format("In the last 24 hours: {}, {}; {:.2f} USD spent today.",
                          counted(facts.threads.size(), "chat changed", "chats changed"), run_text(facts), facts.costs);
  if (!facts.threads.empty()) text += fmt::format(" The latest chat is \"{}\".", title_of(facts.threads.front()));
  if (!facts.proposals.empty()) {
    text += fmt::format(" {} for a decision.", counted(facts.proposals.size(), "proposal waits", "proposals wait"));
  }
  return text;
}

std::string plain_reflection(const BriefingFacts& facts) {
  auto text = plain_summary(facts);
  const auto failed = std::ranges::find_if(facts.jobs, [](const auto& run) { return run.title.ends_with(": failed"); });
  if (!facts.highlights.empty())
    text += " What deserves attention: " + facts.highlights.front();
  else if (failed != facts.jobs.end())
    text += fmt::format(" What deserves attention: a job failed ({}).", title_of(*failed));
  else if (!facts.proposals.empty())
    text += fmt::format(" What deserves attention: the proposal \"{}\".", title_of(facts.proposals.front()));
  else
    text += " Nothing needs attention.";
  text += " No model is configured, so nothing was proposed.";
  return std::string(first_characters(text, reflection_limit));
}

std::string summary_request(const BriefingFacts& facts) {
  auto text = plain_summary(facts) + "\n";
  add_titles(text, "Chats", facts.threads);
  add_titles(text, "Job runs", facts.jobs);
  add_titles(text, "Proposals", facts.proposals);
  for (const auto& highlight : facts.highlights) text += "Signal: " + highlight + "\n";
  return text;
}

}  // namespace agw
