#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/json/described.hpp"

namespace agw {

/// The result of a change.
enum class Verdict {
  keep,     ///< it was better, or a person applied it
  discard,  ///< it was not better, or a person rejected it
  crash,    ///< it could not be measured
};
std::span<const EnumName> names(Tag<Verdict>);

/// The metric if none is specified.
inline constexpr std::string_view default_metric = "quality";

/// A trial: an iteration's change of its asset, or a person's decision on a proposal.
struct Experiment {
  std::string id;
  std::string domain;  ///< groups comparable experiments, usually `agent:<name>`
  Verdict verdict{};
  std::optional<std::string> metric;  ///< null for a decision
  std::optional<double> value;        ///< null for a decision or a crash
  std::optional<double> baseline;     ///< before the change
  std::optional<double> delta;        ///< value − baseline
  std::optional<std::string> unit;
  bool higher_is_better = true;
  std::optional<std::string> iteration_id;
  std::optional<std::string> proposal;  ///< `<agent>/<date>` or `<agent>/<date>/<name>`
  std::optional<std::string> reason;    ///< why it was decided that way
  std::optional<std::string> notes;     ///< the attempted change
  std::optional<std::int64_t> duration_ms;
  std::optional<double> cost_usd;
  Timestamp created_at{};
};
const Description& describe(Tag<Experiment>);

/// The query of `GET /autoresearch/experiments`.
struct ExperimentFilter {
  std::optional<std::string> domain;
  std::optional<Verdict> verdict;
  Limit limit{50};
};
const Description& describe(Tag<ExperimentFilter>);

/// How far the best value exceeds the noise.
struct Confidence {
  double confidence = 0;  ///< |best − baseline| / mad, at most 9999
  std::int64_t sampleSize = 0;
  double mad = 0;  ///< median of |v − median(v)|
};
const Description& describe(Tag<Confidence>);

/// The query of `GET /autoresearch/confidence`.
struct ConfidenceQuery {
  std::string domain;
  std::string metric{default_metric};
};
const Description& describe(Tag<ConfidenceQuery>);

/// The response.
struct DomainConfidence {
  std::string domain;
  std::string metric;
  Confidence confidence;
  std::int64_t consecutiveDiscards = 0;  ///< since the last keep; many suggest to stop
};
const Description& describe(Tag<DomainConfidence>);

}  // namespace agw
