// Runs iterations one after the other, until the plan ends the series.

#include <fmt/format.h>

#include "features/research/domain_config.hpp"
#include "features/research/iteration.hpp"
#include "features/research/service.hpp"

namespace agw {

namespace {

/// With fewer values, their spread may be small by chance, so that any other value appears significant.
constexpr int min_samples = 5;

std::string line_of(int number, const Experiment& experiment) {
  return fmt::format("{}. {}: {}{}\n", number, to_text(experiment.verdict), experiment.reason.value_or(""),
                     experiment.proposal ? fmt::format(" (proposal {})", *experiment.proposal) : "");
}

}  // namespace

/// The name of the latest metric in the domain.
Task<std::string> Research::latest_metric(std::string domain) {
  for (const auto& experiment : co_await services_.experiments.list({.domain = std::move(domain), .verdict = {}})) {
    if (experiment.metric) co_return *experiment.metric;
  }
  co_return std::string(default_metric);
}

Task<std::string> Research::run_until_clear(json::object settings, std::string run_id, bool dry, StopSource& stop) {
  const auto config = read_domain_config(settings);
  const auto plan = read_research_plan(settings);
  if (dry) co_return "dry run: would have run iterations of " + to_json(settings);
  std::string report;
  int discards = 0;
  for (int number = 1; !stop.requested(); ++number) {
    const auto metric = co_await latest_metric(config.domain);
    const auto found = co_await services_.experiments.confidence({.domain = config.domain, .metric = metric});
    const double confidence = found.confidence.confidence;
    if (discards >= plan.max_discards) {
      co_return report + fmt::format("{} attempts in a row made nothing better: time to stop.", discards);
    }
    if (found.confidence.sampleSize >= min_samples && confidence >= plan.until_confidence) {
      co_return report + fmt::format("The confidence in the best {} of {} is {:.2f}: clear enough.", metric,
                                     config.domain, confidence);
    }
    if (number > plan.max_iterations) break;
    // Iterations that were started in the meantime run first; they do not end the series.
    const auto iteration = co_await open(config, run_id, number == 1 ? IfTaken::refuse : IfTaken::wait, {});
    const StopSource::Listener when_stopped(stop, [this, iteration] {
      iteration->stop();
      queue_changed_.pulse();
    });
    co_await iterate(iteration);
    report += line_of(number, iteration->result());
    discards = iteration->result().verdict == Verdict::keep ? 0 : discards + 1;
  }
  co_return report + "That is all for now.";
}

}  // namespace agw
