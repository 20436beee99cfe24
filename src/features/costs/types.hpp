#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"
#include "base/time/local_day.hpp"

namespace agw {

/// What a model call cost, to be stored with the end of its run.
struct Spending {
  LocalDay day{};
  std::string agent_id;
  std::string agent_name;
  std::string thread_id;  ///< empty for what belongs to none
  std::string model;      ///< `<provider>/<model>`
  double usd = 0;
  bool priced = true;  ///< false: the price is not known
  double saved = 0;    ///< USD that prompt caches saved
};

/// Published when a model call was counted.
struct MoneySpent {
  std::string model;
  double usd = 0;
};
const Description& describe(Tag<MoneySpent>);

/// Which days a report's lists are about; all end with today.
enum class CostPeriod { today, week, month };
std::span<const EnumName> names(Tag<CostPeriod>);

/// The query of `GET /costs`.
struct CostQuery {
  CostPeriod period = CostPeriod::today;
};
const Description& describe(Tag<CostQuery>);

/// What an agent has cost.
struct AgentCost {
  std::string agent_id;
  std::string name;
  double cost = 0;  ///< USD
};
const Description& describe(Tag<AgentCost>);

/// What a model has cost.
struct ModelCost {
  std::string model;
  double cost = 0;  ///< USD
};
const Description& describe(Tag<ModelCost>);

/// What a day has cost.
struct DayCost {
  std::string date;  ///< `2026-01-02`, of the host's calendar
  double cost = 0;   ///< USD
};
const Description& describe(Tag<DayCost>);

/// What a thread has cost.
struct ThreadCost {
  std::string thread_id;
  std::optional<std::string> title;  ///< none where the thread was deleted
  double cost = 0;                   ///< USD
};
const Description& describe(Tag<ThreadCost>);

/// `GET /costs`. Lists begin with the dearest.
struct CostReport {
  double today = 0;                   ///< USD since midnight
  double week = 0;                    ///< USD of the last 7 days
  double month = 0;                   ///< USD of the last 30 days
  double saved = 0;                   ///< USD of the period that prompt caches saved
  std::vector<AgentCost> by_agent;    ///< of the period
  std::vector<ModelCost> by_model;    ///< of the period
  std::vector<std::string> unpriced;  ///< models of the last 30 days whose price is not known
  std::vector<DayCost> days;          ///< the last 30, oldest first
  std::vector<ThreadCost> by_thread;  ///< of the period, 20 at most
};
const Description& describe(Tag<CostReport>);

}  // namespace agw
