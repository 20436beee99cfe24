#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/output/table.hpp"
#include "features/secrets/service.hpp"
#include "io/nats/nats_address.hpp"
#include "io/nats/nats_connection.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/nodes.hpp"

namespace agw::cli {

namespace {

using State = CheckResult::State;

constexpr double slow_ms = 20;
/// Clocks that a system service synchronises differ much less.
constexpr double clock_difference = 2;
constexpr auto clock_remedy = "set both clocks: timedatectl set-ntp true. Until then, times that are shown are wrong";

CheckResult checked_server(const postgres::ServerCheck& server) {
  CheckResult result{"database", State::good,
                     fmt::format("the {} can be used: PostgreSQL {} answers within {:.1f} ms", server.name,
                                 server.version, server.round_trip.count())};
  if (server.round_trip.count() > slow_ms) {
    result.state = State::warning;
    result.remedy = "let the server be nearer to this host: each request waits for it several times";
  }
  return result;
}

std::string how_far_ahead(double seconds) {
  return fmt::format("{:.1f} s {} that of the database's server", std::abs(seconds),
                     seconds > 0 ? "ahead of" : "behind");
}

CheckResult checked_clock(const postgres::ServerCheck& server) {
  const auto ahead = server.ahead.count();
  if (std::abs(ahead) <= clock_difference) {
    return {"database clock", State::good, "the clock of this host is that of the database's server"};
  }
  return {"database clock", State::warning, "the clock of this host is " + how_far_ahead(ahead), clock_remedy};
}

/// Adds the problems of a node with their remedies.
void add_problems(const postgres::NodeStatus& node, CheckResults& results) {
  const auto warn = [&](std::string what, std::string remedy) {
    results.push_back(
        {"nodes", State::warning, fmt::format("the node {} {}", node.name, std::move(what)), std::move(remedy)});
  };
  if (node.lease < 0) {
    warn(fmt::format("has not renewed its lease, which expired {:.0f} s ago", -node.lease),
         "look into its log; another node ends what it had begun");
  }
  if (std::abs(node.ahead) > clock_difference) {
    warn("has a clock that is " + how_far_ahead(node.ahead), clock_remedy);
  }
  if (!node.version.empty() && node.version != AGW_VERSION) {
    warn(fmt::format("runs agw {}, and this is {}", node.version, AGW_VERSION), "upgrade one node after the other");
  }
  if (node.behind > 0) {
    warn(fmt::format("has not seen {} of the others",
                     count_text(static_cast<std::uint64_t>(node.behind), "change", "changes")),
         "look into its log: agw logs --level warn");
  }
}

void add_nodes(const std::vector<postgres::NodeStatus>& nodes, CheckResults& results) {
  const auto before = results.size();
  std::vector<std::string> names;
  for (const auto& node : nodes) {
    names.push_back(node.name);
    add_problems(node, results);
  }
  if (results.size() > before) return;
  results.push_back(
      {"nodes", State::good, names.empty() ? "none runs" : fmt::format("all is well with {}", fmt::join(names, ", "))});
}

void add_programs(const std::vector<postgres::PlacedProgram>& programs, CheckResults& results) {
  std::vector<std::string> placed;
  for (const auto& [name, node] : programs) {
    if (!node.empty()) placed.push_back(fmt::format("{} at {}", name, node));
    if (node.empty())
      results.push_back({"programs", State::warning, fmt::format("no node runs {}", name),
                         "an app runs at nodes that have its directory: see the logs of the nodes"});
  }
  if (!placed.empty()) results.push_back({"programs", State::good, fmt::format("{}", fmt::join(placed, ", "))});
}

}  // namespace

CheckResults check_events_server(const DoctorContext& context) {
  if (!context.settings || context.settings->cluster.events.empty()) return {};
  constexpr auto key = "cluster.events";
  try {
    const Secrets secrets(context.directory.path);
    const auto address = read_nats_address(secrets.expand(context.settings->cluster.events), key);
    const auto round_trip = check_nats(address, key);
    return {{"events", State::good,
             fmt::format("the NATS server at {} can be used: it answers within {:.1f} ms", address.name,
                         round_trip.count())}};
  } catch (const std::exception& error) {
    return {{"events", State::failure, error.what(), "until then clients hear of nothing that other nodes do"}};
  }
}

CheckResults check_database_server(const DoctorContext& context) {
  if (const auto file = context.directory.database(); std::filesystem::exists(file)) {
    return {{"database", State::failure,
             fmt::format("{} holds records that a gateway with cluster.database would not see", file.string()),
             obstruction_remedy(file)}};
  }
  try {
    const auto url = Secrets(context.directory.path).expand(context.settings->cluster.database);
    const auto server = postgres::check_reachable(url);
    CheckResults results{checked_server(server), checked_clock(server)};
    if (context.settings->cluster.node.empty()) return results;
    add_nodes(postgres::node_statuses(url), results);
    add_programs(postgres::placed_programs(url), results);
    return results;
  } catch (const std::exception& error) {
    return {{"database", State::failure, error.what(), "until then the gateway does not start"}};
  }
}

}  // namespace agw::cli
