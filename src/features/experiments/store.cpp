#include "features/experiments/store.hpp"

#include <charconv>
#include <stdexcept>

namespace agw::experiment_store {

namespace {

constexpr char kept_mark = '+';

#define EXPERIMENT_COLUMNS                                                                                \
  "id, domain, verdict, metric, value, baseline, delta, unit, higher_is_better, iteration_id, proposal, " \
  "reason, notes, duration_ms, cost_usd, created_at"
#define NEWEST_EXPERIMENTS " ORDER BY number DESC LIMIT :limit"

Experiment read(const Statement& row) {
  return {.id = row.string(0),
          .domain = row.string(1),
          .verdict = from_text<Verdict>(row.text(2)).value_or(Verdict::crash),
          .metric = row.optional_string(3),
          .value = row.optional_real(4),
          .baseline = row.optional_real(5),
          .delta = row.optional_real(6),
          .unit = row.optional_string(7),
          .higher_is_better = row.boolean(8),
          .iteration_id = row.optional_string(9),
          .proposal = row.optional_string(10),
          .reason = row.optional_string(11),
          .notes = row.optional_string(12),
          .duration_ms = row.optional_integer(13),
          .cost_usd = row.optional_real(14),
          .created_at = row.time(15)};
}

Statement listing(Connection& connection, const ExperimentFilter& filter) {
  if (!filter.domain && !filter.verdict) {
    return connection.prepare("SELECT " EXPERIMENT_COLUMNS " FROM experiments" NEWEST_EXPERIMENTS);
  }
  auto rows = connection.prepare(
      filter.verdict ? "SELECT " EXPERIMENT_COLUMNS
                       " FROM experiments WHERE verdict = :verdict AND (:domain IS NULL OR domain = "
                       ":domain)" NEWEST_EXPERIMENTS
                     : "SELECT " EXPERIMENT_COLUMNS " FROM experiments WHERE domain = :domain" NEWEST_EXPERIMENTS);
  rows.bind(":domain", filter.domain);
  if (filter.verdict) rows.bind(":verdict", to_text(*filter.verdict));
  return rows;
}

/// Reads what the trigger writes.
void append_samples(std::string_view text, std::vector<Measurement>& values) {
  while (!text.empty()) {
    Measurement measurement{.verdict = text.front() == kept_mark ? Verdict::keep : Verdict::discard};
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), measurement.value);
    if (error != std::errc()) throw std::logic_error("samples of experiments that are none");
    values.push_back(measurement);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
}

/// The number of the metric's last keep; 0 for none.
std::int64_t last_keep(Connection& connection, const ConfidenceQuery& query) {
  auto row = connection.prepare(
      "SELECT number FROM experiments WHERE domain = :domain AND metric = :metric AND "
      "verdict = 'keep' ORDER BY number DESC LIMIT 1");
  row.bind(":domain", query.domain).bind(":metric", query.metric);
  return row.step() ? row.integer(0) : 0;
}

}  // namespace

void insert(Connection& connection, const Experiment& experiment) {
  connection
      .prepare("INSERT INTO experiments (" EXPERIMENT_COLUMNS
               ") VALUES (:id, :domain, :verdict, :metric, :value, :baseline, :delta, :unit, :higher_is_better, "
               ":iteration_id, :proposal, :reason, :notes, :duration_ms, :cost_usd, :created_at)")
      .bind(":id", experiment.id)
      .bind(":domain", experiment.domain)
      .bind(":verdict", to_text(experiment.verdict))
      .bind(":metric", experiment.metric)
      .bind(":value", experiment.value)
      .bind(":baseline", experiment.baseline)
      .bind(":delta", experiment.delta)
      .bind(":unit", experiment.unit)
      .bind(":higher_is_better", experiment.higher_is_better)
      .bind(":iteration_id", experiment.iteration_id)
      .bind(":proposal", experiment.proposal)
      .bind(":reason", experiment.reason)
      .bind(":notes", experiment.notes)
      .bind(":duration_ms", experiment.duration_ms)
      .bind(":cost_usd", experiment.cost_usd)
      .bind(":created_at", experiment.created_at)
      .run();
}

std::optional<Experiment> find(Connection& connection, const std::string& id) {
  auto row = connection.prepare("SELECT " EXPERIMENT_COLUMNS " FROM experiments WHERE id = :id");
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return read(row);
}

bool has_iteration(Connection& connection, const std::string& iteration_id) {
  auto row = connection.prepare("SELECT 1 FROM experiments WHERE iteration_id = :iteration_id LIMIT 1");
  row.bind(":iteration_id", iteration_id);
  return row.step();
}

std::vector<Experiment> list(Connection& connection, const ExperimentFilter& filter) {
  std::vector<Experiment> experiments;
  auto rows = listing(connection, filter);
  rows.bind(":limit", filter.limit.value);
  while (rows.step()) experiments.push_back(read(rows));
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
  row.step();
  return row.integer(0);
}

}  // namespace agw::experiment_store
