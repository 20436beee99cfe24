#include "server/measures.hpp"

namespace agw {

void add_server_measures(Metrics& metrics, const Server& server, const Database& database) {
  using Kind = Metrics::Kind;
  metrics.add("agw_connections", Kind::gauge, "Connections of clients, WebSockets among them.",
              [&] { return static_cast<double>(server.connections()); });
  metrics.add("agw_database_commits_total", Kind::counter, "Transactions on disk.",
              [&] { return static_cast<double>(database.statistics().commits); });
  metrics.add("agw_database_writes_total", Kind::counter, "Writes in these transactions.",
              [&] { return static_cast<double>(database.statistics().writes); });
  metrics.add("agw_database_queue", Kind::gauge, "Writes that wait.",
              [&] { return static_cast<double>(database.statistics().queued); });
}

}  // namespace agw
