#include <fmt/format.h>

#include "base/printable.hpp"
#include "cli/doctor/doctor.hpp"
#include "features/secrets/service.hpp"
#include "storage/postgres/engine.hpp"

namespace agw::cli {

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
