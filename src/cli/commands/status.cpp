#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/table.hpp"

namespace agw::cli {

namespace {

struct StatusOptions {
  bool json = false;
  bool ready = false;
  std::optional<std::string> data_dir;
};

double uptime_of(const json::value& health) {
  const auto* uptime = health.is_object() ? health.get_object().if_contains("uptime") : nullptr;
  return uptime && uptime->is_number() ? uptime->to_number<double>() : 0;
}

json::object as_json(const FoundGateway& gateway, double uptime, bool token) {
  return {{"version", AGW_VERSION},
          {"url", gateway.url},
          {"pid", gateway.pid},
          {"uptime", uptime},
          {"data_dir", gateway.data_directory.string()},
          {"token", token}};
}

std::string token_text(const FoundGateway& gateway, bool accepted) {
  if (accepted) return "accepted";
  return fmt::format("{}: {}", gateway.token ? "refused" : "none", authorization_problem(gateway));
}

std::string as_table(const FoundGateway& gateway, double uptime, bool token) {
  return table({{"version", AGW_VERSION},
                {"url", gateway.url},
                {"process", std::to_string(gateway.pid)},
                {"uptime", duration_text(uptime)},
                {"data", gateway.data_directory.string()},
                {"token", token_text(gateway, token)}});
}

Task<int> print_status(const FoundGateway& gateway, bool json) {
  const Client client(gateway);
  const auto uptime = uptime_of(co_await client.get("/health"));
  const bool token = co_await client.is_authorized();
  if (json)
    print_json(as_json(gateway, uptime, token));
  else
    std::cout << as_table(gateway, uptime, token);
  co_return 0;
}

/// For container probes: only the exit status matters, and the log shows the reason.
Task<int> require_readiness(const FoundGateway& gateway) {
  co_await Client(gateway).get("/ready");
  co_return 0;
}

int status(const StatusOptions& options) {
  Loop loop;
  const auto gateway = find_gateway(options.data_dir);
  if (options.ready) return run(loop, require_readiness(gateway));
  return run(loop, print_status(gateway, options.json));
}

}  // namespace

Action status_command(Arguments& arguments) {
  auto options = std::make_shared<StatusOptions>();
  arguments.flag("--json", options->json, "Print JSON");
  arguments.flag("--ready", options->ready,
                 "Exit with 0 if requests should be sent to it; otherwise say why, and exit with 1");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return status(*options); };
}

}  // namespace agw::cli
