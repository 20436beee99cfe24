#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/task.hpp"
#include "base/time/time_zone.hpp"
#include "features/costs/types.hpp"
#include "features/extensions/types.hpp"
#include "models/model.hpp"

namespace agw {

struct Completion;
struct Route;
class Connection;
class Database;
class Extensions;
class Hub;
class Models;
class Threads;

/// The sum of all calls of one model.
struct ModelUse {
  std::uint64_t calls = 0;
  Usage usage;
  double usd = 0;
};

/// The cost of a program's call, until it is stored.
struct UnstoredSpending {
  Spending spending;
  std::shared_ptr<void> is_unstored;  ///< `report` waits while a reference to it exists
};

/// Costs of models by day, agent, model and thread, and whether an agent may spend more today. A day is a calendar day
/// in `zone`.
/// Example: src/features/costs/service_test.cpp: Costs.AddUpByAgentModelAndThreadTheMostExpensiveFirst
class Costs {
public:
  /// `budget_usd_per_day` applies to all agents together.
  Costs(Loop& loop, Database& database, Hub& hub, const Clock& clock, TimeZone zone, const Extensions& extensions,
        Threads& threads, const Models& models, std::optional<double> budget_usd_per_day);

  /// Replaces the common budget.
  void limit_to(std::optional<double> budget_usd_per_day) { budget_ = budget_usd_per_day; }

  /// Before the loop runs: reads what was spent today.
  void load(Connection& connection);

  /// On a node, after `load`: excludes the spending of other nodes, which `read_other_nodes` reads.
  void exclude_other_nodes(Connection& connection);
  /// On a node, every second: reads how much the others have spent today. Their calls count once their runs have ended.
  Task<> read_other_nodes();

  /// Whether both the agent's `budget_usd_per_day` and the common budget allow more today. Check it before each model
  /// call.
  bool may_spend(const Extension& agent) const;
  /// Whether the common budget allows more today.
  bool may_spend() const;

  /// Counts a model call against the budgets, immediately, and publishes MoneySpent. Store the result with `record`
  /// when the run ends. The price is that of the time when the model was chosen; if it was unknown, the current one.
  Spending spend(const Extension& agent, const std::string& thread_id, const Completion& completion);
  /// Does the same for a program that calls a model directly; `client` is its own name for itself. Store the result
  /// with `store`.
  UnstoredSpending spend(const std::string& client, const Completion& completion);
  /// Stores the cost. The caller may respond before that, because `report` waits for it.
  Task<> store(UnstoredSpending spent);
  /// Stores the costs. Call it inside the write that ends the run.
  static void record(Connection& connection, const std::vector<Spending>& spendings);
  /// USD stored for the thread, of all days; nullopt if it has cost nothing.
  static std::optional<double> of_thread(Connection& connection, const std::string& thread_id);

  /// Returns the report. Waits up to a second for costs that are being stored.
  Task<CostReport> report(CostPeriod period);

  /// USD of all agents, including calls of active runs.
  double spent_today() const;
  /// Usage since the gateway started, by `<provider>/<model>`; models after the first hundred count as `other`.
  const std::map<std::string, ModelUse, std::less<>>& used() const { return used_; }

private:
  Task<> all_stored();
  Spending count(const std::string& payer, const Completion& completion);
  double spent_today(std::string_view agent_id) const;
  bool has_price(std::string_view model) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  TimeZone zone_;
  const Extensions& extensions_;
  Threads& threads_;
  const Models& models_;
  std::optional<double> budget_;
  int unstored_ = 0;  ///< calls of programs
  AsyncEvent stored_;
  LocalDay day_{};  ///< of the members below
  /// USD, including calls of active runs. The empty id stands for all programs that call models directly.
  std::map<std::string, double, std::less<>> by_agent_;
  LocalDay day_elsewhere_{};                              ///< of `elsewhere_`
  std::map<std::string, double, std::less<>> elsewhere_;  ///< USD of other nodes, with the keys of `by_agent_`
  std::map<std::string, ModelUse, std::less<>> used_;
};

/// `/costs`.
std::vector<Route> cost_routes(Costs& costs);

}  // namespace agw
