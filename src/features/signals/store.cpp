#include "features/signals/store.hpp"

namespace agw::signal_store {

namespace {

#define SIGNAL_COLUMNS "id, kind, severity, message, value, baseline, created_at"
#define SIGNALS_IN_TIME "FROM signals WHERE created_at >= :oldest AND (:since IS NULL OR created_at > :since) "
#define NEWEST_FIRST "ORDER BY number DESC LIMIT :limit"

Signal read(const Statement& row) {
  return {.id = row.string(0),
          .kind = row.string(1),
          .severity = from_text<Severity>(row.text(2)).value_or(Severity::info),
          .message = row.string(3),
          .value = row.optional_real(4),
          .baseline = row.optional_real(5),
          .created_at = row.time(6)};
}

Statement listing(Connection& connection, const SignalFilter& filter) {
  if (!filter.kind) return connection.prepare("SELECT " SIGNAL_COLUMNS " " SIGNALS_IN_TIME NEWEST_FIRST);
  auto rows = connection.prepare("SELECT " SIGNAL_COLUMNS " " SIGNALS_IN_TIME "AND kind = :kind " NEWEST_FIRST);
  rows.bind(":kind", *filter.kind);
  return rows;
}

}  // namespace

void insert(Connection& connection, const Signal& signal) {
  connection
      .prepare("INSERT INTO signals (" SIGNAL_COLUMNS
               ") VALUES (:id, :kind, :severity, :message, :value, :baseline, :created_at)")
      .bind(":id", signal.id)
      .bind(":kind", signal.kind)
      .bind(":severity", to_text(signal.severity))
      .bind(":message", signal.message)
      .bind(":value", signal.value)
      .bind(":baseline", signal.baseline)
      .bind(":created_at", signal.created_at)
      .run();
}

std::vector<Signal> list(Connection& connection, const SignalFilter& filter, Timestamp oldest) {
  std::vector<Signal> signals;
  auto rows = listing(connection, filter);
  rows.bind(":oldest", oldest).bind(":since", filter.since).bind(":limit", filter.limit.value);
  while (rows.step()) signals.push_back(read(rows));
  return signals;
}

void purge(Connection& connection, Timestamp oldest) {
  connection
      .prepare("DELETE FROM signals WHERE number IN (SELECT number FROM signals WHERE created_at < :oldest LIMIT 100)")
      .bind(":oldest", oldest)
      .run();
}

}  // namespace agw::signal_store
