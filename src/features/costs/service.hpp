#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/time/time_zone.hpp"
#include "features/costs/types.hpp"
#include "features/extensions/types.hpp"
#include "models/model.hpp"

namespace agw {

class Connection;
class Database;
class Extensions;
class Hub;
class Models;
class Threads;

/// Calls of one model, in sum.
struct ModelUse {
  std::uint64_t calls = 0;
  Usage usage;
  double usd = 0;
};

/// What models cost, by day, agent, model and thread, and whether an agent may spend more today. A day is one of the
/// calendar of `zone`.
class Costs {
public:
  /// `budget_usd_per_day` is that of all agents together.
  Costs(Database& database, Hub& hub, const Clock& clock, TimeZone zone, const Extensions& extensions, Threads& threads,
        const Models& models, std::optional<double> budget_usd_per_day);

  /// Before the loop runs: what was spent today.
  void load(Connection& connection);

  /// Whether the agent's `budget_usd_per_day` and that of all leave anything for today. Asked before each model call.
  bool may_spend(const Extension& agent) const;

  /// Counts a model call against the budgets, at once, and publishes MoneySpent. What it returns is stored with
  /// `record` when its run ends. `usd` is nothing where the price is not known.
  Spending spend(const Extension& agent, const std::string& thread_id, const std::string& model, const Usage& usage,
                 std::optional<double> usd);
  /// Inside the write that ends the run.
  static void record(Connection& connection, const std::vector<Spending>& spendings);
  /// USD, of what is stored of all days. Nothing where it has cost nothing.
  static std::optional<double> of_thread(Connection& connection, const std::string& thread_id);

  Task<CostReport> report(CostPeriod period);

  /// USD, of all agents, calls of runs under way included.
  double spent_today() const;
  /// What was used since the gateway started, by `<provider>/<model>`; models beyond the first hundred as `other`.
  const std::map<std::string, ModelUse, std::less<>>& used() const { return used_; }

private:
  double spent_today(std::string_view agent_id) const;
  double saved_by_caches(std::string_view model, const Usage& usage) const;
  bool has_price(std::string_view model) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  TimeZone zone_;
  const Extensions& extensions_;
  Threads& threads_;
  const Models& models_;
  std::optional<double> budget_;
  LocalDay day_{};                                       ///< what follows is of this day
  std::map<std::string, double, std::less<>> by_agent_;  ///< USD, calls of runs under way included
  std::map<std::string, ModelUse, std::less<>> used_;
};

}  // namespace agw
