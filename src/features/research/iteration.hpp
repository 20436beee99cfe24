#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/research/iteration_asset.hpp"
#include "features/research/iteration_services.hpp"
#include "features/research/metric.hpp"
#include "features/research/scripts.hpp"
#include "features/research/types.hpp"

namespace agw {

/// The parameters of an iteration: what to improve, and who ordered it.
struct IterationOrder {
  std::string id;
  DomainConfig config;  ///< with resolved paths
  ExtensionPointer agent;
  std::optional<ResearchProject> project;
  std::string ordering_run_id;  ///< the run that ordered it; empty if a person did
  std::filesystem::path kept;   ///< see AssetTrace
};

/// The agent's answer: a description of its change, or the new text.
struct AgentAnswer {
  std::string last_words;
  std::optional<SideEffect> last_side_effect{};
};

/// A measurement, or the reason why there is none.
struct Measured {
  std::optional<Metric> metric{};
  std::string problem{};
};

/// An active iteration and its results so far: measures the asset, lets the agent change it, checks, measures again,
/// decides and records. At the end, the asset is restored, unless it got better and the agent may keep the change.
class Iteration {
public:
  Iteration(const IterationServices& services, Scripts& scripts, IterationOrder order);

  /// Must be called once. The iteration must outlive the call.
  Task<> run();
  /// Requests the end of the iteration. The asset is restored, unless the change was already accepted.
  void stop() { stop_.request(); }
  bool is_stopped() const { return stop_.requested(); }

  const IterationOrder& order() const { return order_; }
  const Delegation& work() const { return work_; }
  /// The record of the iteration; complete once it has ended.
  const Experiment& result() const { return result_; }

private:
  // The sequence of steps: iteration.cpp.
  Task<> attempt();
  Task<> prepare();
  Task<bool> passes_checks();
  Task<> decide(const Measured& before, const Measured& after);
  Task<> propose();
  Task<> restore_or_leave();
  Task<bool> restore_with_retries();
  Task<> end();
  Task<bool> record(bool is_settled);
  Task<> archive_thread();
  Task<> take_effect();
  void set_verdict(Verdict verdict, std::string reason);
  void set_crash(const std::string& reason);
  void publish_step(IterationStep step) const;

  // The steps: measuring.cpp and changing.cpp.
  Task<Measured> measure();
  Task<ScriptEnd> run_script(std::string path, std::chrono::milliseconds limit,
                             std::function<void(std::string_view)> on_output = {});
  Task<Measured> score();
  Task<std::string> ask_model(std::string question);
  Task<> record_spendings();
  Task<> change(const Measured& before);
  Task<std::string> change_request(const Measured& before);
  Task<AgentAnswer> have_agent_work(std::string prompt);
  Task<std::optional<std::string>> left_by_agent(const AgentAnswer& answer);

  const IterationServices& services_;
  Scripts& scripts_;
  const IterationOrder order_;
  Delegation work_;  ///< the agent's run and its thread
  IterationAsset asset_;
  bool stays_ = false;  ///< the change is an improvement and stays in place
  std::vector<Spending> spendings_;
  std::chrono::steady_clock::time_point began_;  ///< the start of its turn, after waiting for other iterations
  Experiment result_;
  StopSource stop_;
};

}  // namespace agw
