#include "features/experiments/store.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::experiment_store {

namespace {

constexpr char kept_mark = '+';

constexpr auto columns = columns_of<Experiment>(
    Column{"id", &Experiment::id}, Column{"domain", &Experiment::domain},
    Column{"verdict", &Experiment::verdict, Verdict::crash}, Column{"metric", &Experiment::metric},
    Column{"value", &Experiment::value}, Column{"baseline", &Experiment::baseline}, Column{"delta", &Experiment::delta},
    Column{"unit", &Experiment::unit}, Column{"higher_is_better", &Experiment::higher_is_better},
    Column{"iteration_id", &Experiment::iteration_id}, Column{"proposal", &Experiment::proposal},
    Column{"reason", &Experiment::reason}, Column{"notes", &Experiment::notes},
    Column{"duration_ms", &Experiment::duration_ms}, Column{"cost_usd", &Experiment::cost_usd},
    Column{"created_at", &Experiment::created_at});

/// The statement that uses the index of the most selective filter.
const std::string& list_sql(const ExperimentFilter& filter) {
  const auto newest = [](std::string_view where) {
    return fmt::format("SELECT {} FROM experiments {} ORDER BY number DESC LIMIT :limit", columns.names(), where);
  };
  static const auto of_verdict = newest("WHERE verdict = :verdict AND (:domain IS NULL OR domain = :domain)");
  static const auto of_domain = newest("WHERE domain = :domain");
  static const auto all = newest("");
  if (filter.verdict) return of_verdict;
  return filter.domain ? of_domain : all;
}

/// Parses the samples that the trigger of `experiments` writes (migration 0092).
void append_samples(std::string_view text, std::vector<Measurement>& values) {
  while (!text.empty()) {
    Measurement measurement{.verdict = text.front() == kept_mark ? Verdict::keep : Verdict::discard};
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), measurement.value);
    AGW_CHECK(error == std::errc(), "stored samples of experiments are not valid");
    values.push_back(measurement);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
}

/// Returns the number of the metric's last keep; 0 if there is none.
std::int64_t last_keep(Connection& connection, const ConfidenceQuery& query) {
  auto row = connection.prepare(
      "SELECT number FROM experiments WHERE domain = :domain AND metric = :metric AND "
      "verdict = 'keep' ORDER BY number DESC LIMIT 1");
  row.bind(":domain", query.domain).bind(":metric", query.metric);
  return row.step() ? row.integer(0) : 0;
}

}  // namespace

void insert(Connection& connection, const Experiment& experiment) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!experiment.id.empty());
  AGW_ASSERT(!experiment.value || experiment.metric);
  AGW_ASSERT(!experiment.value || std::isfinite(*experiment.value));
  AGW_ASSERT(!experiment.value || experiment.verdict != Verdict::crash);
  AGW_ASSERT(!experiment.delta || (experiment.value && experiment.baseline));
  static const auto sql = columns.insert_into("experiments");
  auto statement = connection.prepare(sql);
  columns.bind(statement, experiment).run();
}

std::optional<Experiment> find(Connection& connection, const std::string& id) {
  static const auto sql = fmt::format("SELECT {} FROM experiments WHERE id = :id", columns.names());
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return columns.read(row);
}

bool has_iteration(Connection& connection, const std::string& iteration_id) {
  auto row = connection.prepare("SELECT 1 FROM experiments WHERE iteration_id = :iteration_id LIMIT 1");
  row.bind(":iteration_id", iteration_id);
  return row.step();
}

std::vector<Experiment> list(Connection& connection, const ExperimentFilter& filter) {
  std::vector<Experiment> experiments;
  auto rows = connection.prepare(list_sql(filter));
  if (filter.domain || filter.verdict) rows.bind(":domain", filter.domain);
  if (filter.verdict) rows.bind(":verdict", to_text(*filter.verdict));
  rows.bind(":limit", filter.limit.value);
  while (rows.step()) experiments.push_back(columns.read(rows));
  return experiments;
}

Measurements measurements(Connection& connection, const ConfidenceQuery& query) {
  Measurements found;
  auto row = connection.prepare(
      "SELECT samples, higher_is_better FROM experiment_samples WHERE domain = :domain AND metric = :metric "
      "ORDER BY chunk");
  row.bind(":domain", query.domain).bind(":metric", query.metric);
  while (row.step()) {
    if (found.values.empty()) found.higher_is_better = row.boolean(1);
    append_samples(row.text(0), found.values);
  }
  return found;
}

std::int64_t consecutive_discards(Connection& connection, const ConfidenceQuery& query) {
  auto row = connection.prepare(
      "SELECT (SELECT count(*) FROM experiments WHERE domain = :domain AND metric = :metric AND number > :keep AND "
      "verdict = 'discard') + (SELECT count(*) FROM experiments WHERE verdict = 'crash' AND domain = :domain AND "
      "number > :keep)");
  row.bind(":domain", query.domain).bind(":metric", query.metric).bind(":keep", last_keep(connection, query));
  const bool has_row = row.step();
  AGW_ASSERT(has_row);
  return row.integer(0);
}

}  // namespace agw::experiment_store
