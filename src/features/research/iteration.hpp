#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "features/costs/types.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/types.hpp"
#include "features/research/asset.hpp"
#include "features/research/metric.hpp"
#include "features/research/service.hpp"
#include "features/research/store.hpp"

namespace agw {

/// An iteration under way, and what has come of it so far.
struct Iteration {
  DomainConfig config;  ///< its paths resolved
  ExtensionPointer agent;
  std::optional<ResearchProject> project;
  Delegation work{};                    ///< the agent's run and its thread
  std::optional<AssetCopy> original{};  ///< once it is noted in the database
  bool stays = false;                   ///< what got better is left in place
  AssetTrace trace{};
  bool is_put_back = false;  ///< the asset is no concern of the iteration any more
  std::vector<Spending> spendings{};
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  Experiment result{};
  Stop stop{};
};

/// What the agent says of its change, or the new text.
struct AgentAnswer {
  std::string last_words;
  std::optional<Act> last_act{};
};

/// A measurement, or why there is none.
struct Measured {
  std::optional<Metric> metric{};
  std::string problem{};
};

/// What keeps an iteration from going on; its text is the experiment's reason.
class IterationProblem : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

}  // namespace agw
