#include <fmt/format.h>

#include "features/costs/service.hpp"
#include "features/runs/service.hpp"
#include "server/metrics.hpp"
#include "server/server.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

using Kind = Metrics::Kind;
using Samples = std::vector<Metrics::Sample>;

void add_server_metrics(Metrics& metrics, const Server& server, const Database& database) {
  metrics.add("agw_connections", Kind::gauge, "Connections of clients, WebSockets among them.",
              [&] { return static_cast<double>(server.connections()); });
  metrics.add("agw_database_commits_total", Kind::counter, "Transactions on disk.",
              [&] { return static_cast<double>(database.statistics().commits); });
  metrics.add("agw_database_writes_total", Kind::counter, "Writes in these transactions.",
              [&] { return static_cast<double>(database.statistics().writes); });
  metrics.add("agw_database_queue", Kind::gauge, "Writes that wait.",
              [&] { return static_cast<double>(database.statistics().queued); });
}

void add_run_metrics(Metrics& metrics, const Runs& runs) {
  metrics.add("agw_runs_active", Kind::gauge, "Runs in progress.", [&] { return static_cast<double>(runs.running()); });
  metrics.add("agw_runs_queue", Kind::gauge, "Runs that wait for another one of their thread.",
              [&] { return static_cast<double>(runs.waiting()); });
  metrics.add_family("agw_runs_total", Kind::counter, "Runs that ended, by how they did.", [&] {
    Samples samples;
    for (const auto& [reason, count] : runs.ended())
      samples.push_back({metric_label("reason", reason), static_cast<double>(count)});
    return samples;
  });
}

Samples tokens(const Costs& costs) {
  Samples samples;
  for (const auto& [model, used] : costs.used()) {
    const auto add = [&](std::string_view kind, std::int64_t count) {
      samples.push_back(
          {fmt::format("{},{}", metric_label("model", model), metric_label("kind", kind)), static_cast<double>(count)});
    };
    add("input", used.usage.input_tokens);
    add("output", used.usage.output_tokens);
    add("cache_read", used.usage.cache_read_tokens);
    add("cache_write", used.usage.cache_write_tokens);
  }
  return samples;
}

void add_model_metrics(Metrics& metrics, const Costs& costs) {
  const auto by_model = [&costs](auto value) {
    return [&costs, value] {
      Samples samples;
      for (const auto& [model, used] : costs.used())
        samples.push_back({metric_label("model", model), static_cast<double>(value(used))});
      return samples;
    };
  };
  metrics.add_family("agw_model_calls_total", Kind::counter, "Calls of models.",
                     by_model([](const ModelUse& used) { return used.calls; }));
  metrics.add_family("agw_tokens_total", Kind::counter, "Tokens that models were given and made.",
                     [&costs] { return tokens(costs); });
  metrics.add_family("agw_cost_usd_total", Kind::counter, "What models cost, in US dollars.",
                     by_model([](const ModelUse& used) { return used.usd; }));
}

}  // namespace

void add_gateway_metrics(Metrics& metrics, const Server& server, const Database& database, const Runs& runs,
                         const Costs& costs) {
  add_server_metrics(metrics, server, database);
  add_run_metrics(metrics, runs);
  add_model_metrics(metrics, costs);
}

}  // namespace agw
