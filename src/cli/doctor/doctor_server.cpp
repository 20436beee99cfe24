#include <fmt/format.h>

#include "base/printable.hpp"
#include "cli/doctor/doctor.hpp"
#include "features/secrets/service.hpp"
#include "io/nats/nats_address.hpp"
#include "io/nats/nats_connection.hpp"
#include "storage/postgres/engine.hpp"

namespace agw::cli {

CheckResults check_events_server(const DoctorContext& context) {
  using State = CheckResult::State;
  if (!context.settings || context.settings->cluster.events.empty()) return {};
  constexpr auto key = "cluster.events";
  try {
    const Secrets secrets(context.directory.path);
    const auto address = read_nats_address(secrets.expand(context.settings->cluster.events), key);
    check_nats(address, key);
    return {{"events", State::good, fmt::format("the NATS server at {} can be used", address.name)}};
  } catch (const std::exception& error) {
    return {{"events", State::failure, error.what(), "until then clients hear of nothing that other nodes do"}};
  }
}

CheckResults check_database_server(const DoctorContext& context) {
  using State = CheckResult::State;
  if (const auto file = context.directory.database(); std::filesystem::exists(file)) {
    return {{"database", State::failure,
             fmt::format("{} holds records that a gateway with cluster.database would not see", file.string()),
             obstruction_remedy(file)}};
  }
  try {
    const Secrets secrets(context.directory.path);
    return {{"database", State::good,
             fmt::format("the {} can be used",
                         postgres::check_reachable(secrets.expand(context.settings->cluster.database)))}};
  } catch (const std::exception& error) {
    return {{"database", State::failure, error.what(), "until then the gateway does not start"}};
  }
}

}  // namespace agw::cli
