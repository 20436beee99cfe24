// The sums of the current day are in memory, because every model call checks the budgets; reports read the database.
// The sums of other nodes are read periodically and kept separately (`elsewhere_`), so that they can be replaced as a
// whole. The first use on a new day resets the sums.
//
// A call is counted immediately (`spend`). Its caller stores the cost: in the transaction that ends the run, or with
// `store` for a program's call.

#include "features/costs/service.hpp"

#include <chrono>
#include <cmath>
#include <numeric>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "features/costs/store.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/threads/service.hpp"
#include "models/catalog.hpp"
#include "models/retry.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

using std::chrono::days;

constexpr auto max_wait_for_stores = std::chrono::seconds(1);
constexpr days week{7};
constexpr days month{30};
// A report reads the days of a month, and adds up the shorter periods from them.
static_assert(days{1} <= week);
static_assert(week <= month);
constexpr int max_threads = 20;
constexpr int max_clients = 50;
constexpr std::string_view all_clients;
constexpr std::size_t max_models = 100;

days length_of(CostPeriod period) {
  switch (period) {
    case CostPeriod::today:
      return days{1};
    case CostPeriod::week:
      return week;
    case CostPeriod::month:
      return month;
  }
  return days{1};
}

LocalDay first_day(days length, LocalDay last) { return last - length + days{1}; }

/// Removes the rounding errors of sums.
double rounded(double usd) { return std::round(usd * 1e10) / 1e10; }

template <class Rows>
void round_all(Rows& rows) {
  for (auto& row : rows) row.cost = rounded(row.cost);
}

double sum_since(const std::map<LocalDay, double>& by_day, LocalDay first) {
  double sum = 0;
  for (auto day = by_day.lower_bound(first); day != by_day.end(); ++day) sum += day->second;
  return rounded(sum);
}

std::vector<DayCost> every_day(const std::map<LocalDay, double>& by_day, LocalDay first, LocalDay last) {
  AGW_ASSERT(first <= last);
  std::vector<DayCost> all;
  for (auto day = first; day <= last; day += days{1}) {
    const auto found = by_day.find(day);
    all.push_back({to_iso8601(day), found == by_day.end() ? 0 : rounded(found->second)});
  }
  return all;
}

CostReport read_report(Connection& connection, LocalDay today, days period) {
  AGW_ASSERT(period >= days{1});
  AGW_ASSERT(period <= month);
  const auto first = first_day(period, today);
  const auto first_of_month = first_day(month, today);
  const auto by_day = cost_store::by_day(connection, first_of_month, today);
  CostReport report{.today = sum_since(by_day, today),
                    .week = sum_since(by_day, first_day(week, today)),
                    .month = sum_since(by_day, first_of_month),
                    .saved = rounded(cost_store::saved(connection, first, today)),
                    .cached = cost_store::cached_share(connection, first, today),
                    .by_agent = cost_store::by_agent(connection, first, today),
                    .by_model = cost_store::by_model(connection, first, today),
                    .unpriced = cost_store::unpriced(connection, first_of_month, today),
                    .days = every_day(by_day, first_of_month, today),
                    .by_thread = cost_store::by_thread(connection, first, today, max_threads),
                    .by_client = cost_store::by_client(connection, first, today, max_clients),
                    .by_job = cost_store::by_job(connection, first, today)};
  round_all(report.by_agent);
  round_all(report.by_model);
  round_all(report.by_thread);
  round_all(report.by_client);
  round_all(report.by_job);
  return report;
}

std::optional<double> budget_of(const Extension& agent) {
  const auto* budget = agent.definition.members().if_contains("budget_usd_per_day");
  return budget && budget->is_number() ? std::optional(budget->to_number<double>()) : std::nullopt;
}

Task<std::optional<std::string>> title_of(Threads& threads, std::string id) {
  try {
    co_return (co_await threads.require(std::move(id))).title;
  } catch (const NotFound&) {
    co_return std::nullopt;
  }
}

}  // namespace

Costs::Costs(Loop& loop, Database& database, Hub& hub, const Clock& clock, TimeZone zone, const Extensions& extensions,
             Threads& threads, const Models& models, std::optional<double> budget_usd_per_day)
    : database_(database),
      hub_(hub),
      clock_(clock),
      zone_(std::move(zone)),
      extensions_(extensions),
      threads_(threads),
      models_(models),
      budget_(budget_usd_per_day),
      stored_(loop) {}

void Costs::load(Connection& connection) {
  day_ = local_day(clock_.now(), zone_);
  by_agent_ = cost_store::agents_of_day(connection, day_);
  if (const auto usd = cost_store::clients_of_day(connection, day_); usd != 0)
    by_agent_[std::string(all_clients)] = usd;
}

void Costs::exclude_other_nodes(Connection& connection) {
  AGW_ASSERT(connection.is_postgres());
  // Once: otherwise it would subtract twice.
  AGW_ASSERT(elsewhere_.empty());
  day_elsewhere_ = day_;
  elsewhere_ = cost_store::spent_elsewhere(connection, day_);
  for (const auto& [payer, usd] : elsewhere_) by_agent_[payer] -= usd;
}

Task<> Costs::read_other_nodes() {
  const auto today = local_day(clock_.now(), zone_);
  elsewhere_ = co_await database_.read(
      [today](Connection& connection) { return cost_store::spent_elsewhere(connection, today); });
  day_elsewhere_ = today;
}

double Costs::spent_today(std::string_view agent_id) const {
  const auto today = local_day(clock_.now(), zone_);
  const auto in = [&](const auto& sums, LocalDay day) {
    const auto found = sums.find(agent_id);
    return found == sums.end() || day != today ? 0 : found->second;
  };
  return in(by_agent_, day_) + in(elsewhere_, day_elsewhere_);
}

double Costs::spent_today() const {
  const auto today = local_day(clock_.now(), zone_);
  const auto sum = [&](const auto& sums, LocalDay day) {
    return day != today ? 0 : std::accumulate(sums.begin(), sums.end(), 0.0, [](double all, const auto& one) {
      return all + one.second;
    });
  };
  return rounded(sum(by_agent_, day_) + sum(elsewhere_, day_elsewhere_));
}

bool Costs::may_spend(const Extension& agent) const {
  const auto own = budget_of(agent);
  return (!own || spent_today(agent.id) < *own) && may_spend();
}

bool Costs::may_spend() const { return !budget_ || spent_today() < *budget_; }

Spending Costs::spend(const Extension& agent, const std::string& thread_id, const Completion& completion) {
  auto spending = count(agent.id, completion);
  spending.agent_id = agent.id;
  spending.agent_name = agent.name;
  spending.thread_id = thread_id;
  return spending;
}

UnstoredSpending Costs::spend(const std::string& client, const Completion& completion) {
  auto spending = count(std::string(all_clients), completion);
  spending.client = client;

  ++unstored_;
  const auto stored = [this](void*) {
    AGW_ASSERT(unstored_ > 0);
    --unstored_;
    stored_.pulse();
  };
  return {std::move(spending), {nullptr, stored}};
}

Task<> Costs::store(UnstoredSpending spent) {
  co_await database_.write([spending = spent.spending](Connection& connection) { record(connection, {spending}); });
}

Task<> Costs::all_stored() {
  while (unstored_ > 0) co_await stored_.wait();
}

Spending Costs::count(const std::string& payer, const Completion& completion) {
  const auto model = completion.id();
  const auto& usage = completion.usage();
  auto price = completion.price;
  if (!price) price = models_.info(completion.provider, completion.model).price;
  const auto usd = price ? cost(*price, usage) : 0;
  // A client may use any model name, so the number of stored names is limited.
  const bool known = used_.contains(model) || used_.size() < max_models;
  auto& used = used_[known ? model : "other"];
  AGW_ASSERT(used_.size() <= max_models + 1);  // and `other`
  ++used.calls;
  used.usage += usage;
  used.usd += usd;
  const auto today = local_day(clock_.now(), zone_);
  if (day_ != today) by_agent_.clear();
  day_ = today;
  by_agent_[payer] += usd;
  hub_.publish({.record = MoneySpent{model, usd}});
  return {.day = today,
          .model = model,
          .usd = usd,
          .priced = price.has_value(),
          .saved = price ? saved(*price, usage) : 0,
          .input_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
          .cached_tokens = usage.cache_read_tokens};
}

/// Uses the current prices, because one may have been added after the model was used.
bool Costs::has_price(std::string_view model) const {
  const auto slash = model.find('/');
  return slash != model.npos && models_.info(model.substr(0, slash), model.substr(slash + 1)).price.has_value();
}

void Costs::record(Connection& connection, const std::vector<Spending>& spendings) {
  for (const auto& spending : spendings) cost_store::add(connection, spending);
}

std::optional<double> Costs::of_thread(Connection& connection, const std::string& thread_id) {
  return cost_store::of_thread(connection, thread_id);
}

Task<CostReport> Costs::report(CostPeriod period) {
  if (unstored_ > 0) {
    StopSource never;
    co_await with_timeout(never, max_wait_for_stores, all_stored());
  }
  const auto today = local_day(clock_.now(), zone_);
  auto report = co_await database_.read(
      [today, period](Connection& connection) { return read_report(connection, today, length_of(period)); });
  std::erase_if(report.unpriced, [this](const auto& model) { return has_price(model); });
  for (auto& row : report.by_agent) {
    if (const auto agent = extensions_.find(row.agent_id)) row.name = agent->name;
  }
  for (auto& row : report.by_job) {
    if (const auto job = extensions_.find(row.job_id)) row.name = job->name;
  }
  report.budget = budget_;
  for (auto& row : report.by_thread) row.title = co_await title_of(threads_, row.thread_id);
  co_return report;
}

}  // namespace agw
