#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"
#include "base/time/time_zone.hpp"

namespace agw {

/// The cost of a model call, to be stored when its run ends.
struct Spending {
  LocalDay day{};
  std::string agent_id;
  std::string agent_name;
  std::string thread_id;  ///< empty outside of threads
  std::string model;      ///< `<provider>/<model>`
  double usd = 0;
  bool priced = true;              ///< false: the price is not known
  double saved = 0;                ///< USD that prompt caches saved
  std::int64_t input_tokens = 0;   ///< all, including those in `cached_tokens`
  std::int64_t cached_tokens = 0;  ///< read from a prompt cache
  std::string client{};            ///< the program that called a model directly; `agent_id` is then empty
};

/// Published after a model call was counted.
struct MoneySpent {
  std::string model;
  double usd = 0;
};
const Description& describe(Tag<MoneySpent>);

/// The days that a report's lists cover; all end today.
enum class CostPeriod { today, week, month };
std::span<const EnumName> names(Tag<CostPeriod>);

/// The query of `GET /costs`.
struct CostQuery {
  CostPeriod period = CostPeriod::today;
};
const Description& describe(Tag<CostQuery>);

/// The cost of an agent.
struct AgentCost {
  std::string agent_id;
  std::string name;
  double cost = 0;  ///< USD
};
const Description& describe(Tag<AgentCost>);

/// The cost of a model.
struct ModelCost {
  std::string model;
  double cost = 0;  ///< USD
};
const Description& describe(Tag<ModelCost>);

/// The cost of a program that calls models directly.
struct ClientCost {
  std::string client;  ///< its own name for itself
  double cost = 0;     ///< USD
};
const Description& describe(Tag<ClientCost>);

/// The cost of a day.
struct DayCost {
  std::string date;  ///< `2026-01-02`, in the host's calendar
  double cost = 0;   ///< USD
};
const Description& describe(Tag<DayCost>);

/// The cost of a thread.
struct ThreadCost {
  std::string thread_id;
  std::optional<std::string> title;  ///< null if the thread was deleted
  double cost = 0;                   ///< USD
};
const Description& describe(Tag<ThreadCost>);

/// The cost of a job: the sum of its own threads.
struct JobCost {
  std::string job_id;
  std::optional<std::string> name;  ///< null if the job was deleted
  double cost = 0;                  ///< USD
};
const Description& describe(Tag<JobCost>);

/// `GET /costs`. Lists are sorted by cost, highest first.
struct CostReport {
  double today = 0;  ///< USD since midnight
  double week = 0;   ///< USD of the last 7 days
  double month = 0;  ///< USD of the last 30 days
  double saved = 0;  ///< USD of the period that prompt caches saved
  std::optional<double>
      cached;  ///< share of the period's input tokens that came from prompt caches; null without input tokens
  std::vector<AgentCost> by_agent;    ///< of the period
  std::vector<ModelCost> by_model;    ///< of the period
  std::vector<std::string> unpriced;  ///< models of the last 30 days without a known price
  std::vector<DayCost> days;          ///< the last 30, oldest first
  std::vector<ThreadCost> by_thread;  ///< of the period, at most 20
  std::vector<ClientCost> by_client;  ///< of the period: programs that call models directly
  std::vector<JobCost> by_job;        ///< of the period
  std::optional<double> budget;       ///< daily budget in USD; null: no limit
};
const Description& describe(Tag<CostReport>);

}  // namespace agw
