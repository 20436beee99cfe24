#include "features/signals/store.hpp"

#include <fmt/format.h>

#include "storage/columns.hpp"

namespace agw::signal_store {

namespace {

constexpr auto columns = columns_of<Signal>(
    Column{"id", &Signal::id}, Column{"kind", &Signal::kind}, Column{"severity", &Signal::severity, Severity::info},
    Column{"message", &Signal::message}, Column{"value", &Signal::value}, Column{"baseline", &Signal::baseline},
    Column{"created_at", &Signal::created_at});

Statement listing(Connection& connection, const SignalFilter& filter) {
  const auto newest = [](std::string_view narrowed) {
    return fmt::format(
        "SELECT {} FROM signals WHERE created_at >= :oldest AND (:since IS NULL OR created_at > :since) {} "
        "ORDER BY number DESC LIMIT :limit",
        columns.names(), narrowed);
  };
  static const auto all = newest("");
  static const auto of_kind = newest("AND kind = :kind");
  auto rows = connection.prepare(filter.kind ? of_kind : all);
  if (filter.kind) rows.bind(":kind", *filter.kind);
  return rows;
}

}  // namespace

void insert(Connection& connection, const Signal& signal) {
  static const auto sql = columns.insert_into("signals");
  auto statement = connection.prepare(sql);
  columns.bind(statement, signal).run();
}

std::vector<Signal> list(Connection& connection, const SignalFilter& filter, Timestamp oldest) {
  std::vector<Signal> signals;
  auto rows = listing(connection, filter);
  rows.bind(":oldest", oldest).bind(":since", filter.since).bind(":limit", filter.limit.value);
  while (rows.step()) signals.push_back(columns.read(rows));
  return signals;
}

void purge(Connection& connection, Timestamp oldest) {
  connection
      .prepare("DELETE FROM signals WHERE number IN (SELECT number FROM signals WHERE created_at < :oldest LIMIT 100)")
      .bind(":oldest", oldest)
      .run();
}

}  // namespace agw::signal_store
