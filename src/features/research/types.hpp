#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/json/described.hpp"
#include "features/experiments/types.hpp"

namespace agw {

/// The body of `POST /autoresearch/run`: the file to improve, and how to measure it. All paths are absolute.
struct DomainConfig {
  std::string domain;  ///< the domain of the experiment; `agent:<name>` names the agent that makes the change
  std::string asset_path;
  std::optional<std::string> benchmark_path;  ///< prints `METRIC name=value`
  std::optional<std::string> checks_path;     ///< fails if a change breaks something
  std::optional<std::string> rubric_path;     ///< the rubric by which a model scores the asset, without a benchmark
};
const Description& describe(Tag<DomainConfig>);

/// Determines when a series of iterations ends. Given with a DomainConfig in the member `research` of a job.
struct ResearchPlan {
  double until_confidence = 3;  ///< confidence of the domain that ends the series, from five values on
  int max_discards = 5;         ///< consecutive ones in this series; crashes count as well
  int max_iterations = 10;
};
const Description& describe(Tag<ResearchPlan>);

/// The response of `POST /autoresearch/run`.
struct IterationStarted {
  std::string status = "started";
  std::string iterationId;
  std::string domain;
};
const Description& describe(Tag<IterationStarted>);

/// The project that contains a file.
struct ResearchProject {
  std::string id;
  std::filesystem::path path;
};

/// The step that an iteration begins, in `iteration-step` events.
enum class IterationStep { measure, change, check, measure_again, decide, ended };
std::span<const EnumName> names(Tag<IterationStep>);

}  // namespace agw
