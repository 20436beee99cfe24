#include "storage/postgres/nodes.hpp"

#include "base/async/assert.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/link.hpp"

namespace agw::postgres {

std::vector<NodeStatus> node_statuses(const std::string& url) {
  AGW_DEBUG_ASSERT(may_block());
  check_reachable(url);
  const auto address = read_address(url);
  Stop stop;
  Link link(address, stop);
  // Lock 7422 is for a node's name, 7424 for the leader; each feed holds 7425 with its node's name.
  auto rows = link.connection().prepare(
      "WITH locks AS (SELECT pid, CAST(classid AS bigint) AS class, objid FROM pg_locks JOIN pg_database "
      "ON pg_database.oid = database WHERE datname = current_database() AND locktype = 'advisory' AND granted), "
      // Reads columns by name, because an older release without them may have created the schema.
      "named AS (SELECT node, lease_until, coalesce(to_jsonb(gateway_owner) ->> 'version', '') AS version, "
      "CAST(to_jsonb(gateway_owner) ->> 'seen' AS bigint) AS seen, "
      "coalesce(CAST(to_jsonb(gateway_owner) ->> 'ahead' AS double precision), 0) AS ahead, "
      "CAST(hashtext(coalesce(current_schema(), '') || '/' || node) AS oid) AS name "
      "FROM gateway_owner WHERE node <> '') "
      "SELECT node, CAST(extract(epoch FROM lease_until - clock_timestamp()) AS double precision), "
      "coalesce(host(client_addr), CASE WHEN backend_start IS NOT NULL THEN 'the host of the server' END), "
      "to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), "
      "EXISTS (SELECT FROM locks AS lead JOIN locks AS feed USING (pid) WHERE lead.class = 7424 AND feed.class = 7425 "
      "AND feed.objid = named.name), "
      "(SELECT count(*) FROM runs WHERE ended_at IS NULL AND runs.node = named.node), "
      "version, (SELECT count(*) FROM changes WHERE number > seen AND at < clock_timestamp() - interval '5 seconds'), "
      "ahead "
      "FROM named LEFT JOIN locks ON class = 7422 AND objid = named.name LEFT JOIN pg_stat_activity USING (pid) "
      "ORDER BY node");
  std::vector<NodeStatus> found;
  while (rows.step()) {
    found.push_back({.name = rows.string(0),
                     .lease = rows.real(1),
                     .address = rows.optional_string(2),
                     .connected_at = rows.optional_string(3),
                     .leads = rows.boolean(4),
                     .runs = rows.integer(5),
                     .version = rows.string(6),
                     .behind = rows.integer(7),
                     .ahead = rows.real(8)});
  }
  return found;
}

std::vector<PlacedProgram> placed_programs(const std::string& url) {
  AGW_DEBUG_ASSERT(may_block());
  const auto address = read_address(url);
  Stop stop;
  Link link(address, stop);
  std::vector<PlacedProgram> found;
  auto& connection = link.connection();
  // An older release without this table may have created the schema.
  auto table = connection.prepare("SELECT to_regclass('placements') IS NOT NULL");
  if (!table.step() || !table.boolean(0)) return found;
  auto rows = connection.prepare(
      "SELECT name, node FROM placements JOIN extensions ON extensions.id = extension_id ORDER BY name");
  while (rows.step()) found.push_back({.name = rows.string(0), .node = rows.string(1)});
  return found;
}

}  // namespace agw::postgres
