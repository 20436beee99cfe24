#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/research/asset_under_way.hpp"
#include "features/research/iteration_services.hpp"
#include "features/research/metric.hpp"
#include "features/research/scripts.hpp"
#include "features/research/types.hpp"

namespace agw {

/// What an iteration is to improve, and for whom.
struct IterationOrder {
  std::string id;
  DomainConfig config;  ///< its paths resolved
  ExtensionPointer agent;
  std::optional<ResearchProject> project;
  std::string ordering_run_id;  ///< empty where a person has ordered it
  std::filesystem::path kept;   ///< see AssetTrace
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

/// One iteration under way, and what has come of it so far: measures the asset, lets the agent change it, checks,
/// measures again, decides and records. Whatever happens, the asset is what it was before, unless it got better and its
/// agent may leave it so.
class Iteration {
public:
  Iteration(const IterationServices& services, Scripts& scripts, IterationOrder order);

  /// Once. Whoever awaits it keeps the iteration until it returns.
  Task<> run();
  /// It ends soon, and the asset is what it was, unless a change stays already.
  void stop() { stop_.request(); }

  const IterationOrder& order() const { return order_; }
  const Delegation& work() const { return work_; }
  /// What is recorded of it; complete once it has ended.
  const Experiment& result() const { return result_; }

private:
  // The story: iteration.cpp.
  Task<> attempt();
  Task<> prepare();
  Task<bool> passes_checks();
  Task<> decide(const Measured& before, const Measured& after);
  Task<> propose();
  Task<> put_back_or_leave();
  Task<bool> put_back_at_last();
  Task<> end();
  Task<bool> record(bool is_settled);
  Task<> put_away();
  void set_verdict(Verdict verdict, std::string reason);
  void set_crash(const std::string& reason);
  void tell(IterationStep step) const;

  // Its parts: measuring.cpp and changing.cpp.
  Task<Measured> measure();
  Task<ScriptEnd> run_script(std::string path, std::chrono::milliseconds limit,
                             std::function<void(std::string_view)> on_output = {});
  Task<Measured> score();
  Task<std::string> ask_model(std::string question);
  Task<> record_spendings();
  Task<bool> change(const Measured& before);
  Task<std::string> change_request(const Measured& before);
  Task<AgentAnswer> have_agent_work(std::string prompt);

  const IterationServices& services_;
  Scripts& scripts_;
  const IterationOrder order_;
  Delegation work_;  ///< the agent's run and its thread
  AssetUnderWay asset_;
  bool stays_ = false;  ///< what got better is left in place
  std::vector<Spending> spendings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Experiment result_;
  Stop stop_;
};

}  // namespace agw
