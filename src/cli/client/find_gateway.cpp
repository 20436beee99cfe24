#include "cli/client/find_gateway.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "config/data_directory.hpp"
#include "features/access/token.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto start_limit = 5s;
constexpr auto start_poll_interval = 10ms;

enum class WhenAbsent { counts, wait_until_up };

/// A gateway that starts or stops holds its lock without a URL: waits until it is up or gone. Waits for an absent one
/// only if it is expected to start.
std::optional<RunningGateway> settled_gateway(const std::filesystem::path& directory, WhenAbsent absent) {
  const auto is_settled = [absent](const auto& found) {
    return found ? !found->url.empty() : absent == WhenAbsent::counts;
  };
  const auto deadline = SteadyClock::now() + start_limit;
  const auto own = own_directory(directory);
  auto gateway = find_running_gateway(own);
  while (!is_settled(gateway) && SteadyClock::now() < deadline) {
    std::this_thread::sleep_for(start_poll_interval);
    gateway = find_running_gateway(own);
  }
  return gateway;
}

[[noreturn]] void refuse(const std::filesystem::path& directory, const std::optional<std::string>& flag) {
  const auto option = flag ? " --data-dir " + shell_quoted(*flag) : "";
  throw StartError(ExitStatus::not_running,
                   fmt::format("no gateway runs on {}: start it with `agw serve{}`", directory.string(), option));
}

}  // namespace

std::filesystem::path data_directory(const std::optional<std::string>& flag) {
  auto directory = find_data_directory(flag, process_environment()).path;
  refuse_foreign_file(directory);
  return directory;
}

std::filesystem::path own_directory(const std::filesystem::path& data_directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(data_directory / data_files::nodes, ignored)) return data_directory;
  SettingsSources sources;
  sources.file = data_directory / data_files::configuration;
  const auto settings = load_settings(sources);
  if (settings.cluster.files == ClusterFiles::shared && settings.cluster.node.empty()) {
    throw StartError(ExitStatus::usage,
                     fmt::format("nodes share the data directory {}: name one with AGENT_GATEWAY_CLUSTER_NODE",
                                 data_directory.string()));
  }
  return agw::own_directory(data_directory, settings);
}

std::optional<RunningGateway> running_gateway(const std::filesystem::path& data_directory) {
  return find_running_gateway(own_directory(data_directory));
}

bool wait_until_up(const std::filesystem::path& data_directory) {
  const auto gateway = settled_gateway(data_directory, WhenAbsent::wait_until_up);
  return gateway && !gateway->url.empty();
}

FoundGateway find_gateway(const std::optional<std::string>& data_dir_flag) {
  const auto directory = data_directory(data_dir_flag);
  const auto running = settled_gateway(directory, WhenAbsent::counts);
  if (!running) refuse(directory, data_dir_flag);
  if (running->url.empty()) {
    throw StartError(ExitStatus::failure,
                     fmt::format("the gateway on {} (process {}) holds its lock but does not respond yet: see {}/logs",
                                 directory.string(), running->pid, own_directory(directory).string()));
  }
  FoundGateway gateway{.data_directory = directory,
                       .pid = running->pid,
                       .url = running->url,
                       .certificate = running->certificate,
                       .token = {}};
  if (const auto token = Token::load(directory)) gateway.token = token->secret();
  return gateway;
}

}  // namespace agw::cli
