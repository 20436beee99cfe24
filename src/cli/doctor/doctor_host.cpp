#include <arpa/inet.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/time/time.hpp"
#include "cli/client/client.hpp"
#include "cli/doctor/doctor.hpp"
#include "io/files/lock_file.hpp"
#include "io/process/process_setup.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using State = CheckResult::State;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t little_space = 1024 * mebibyte;
constexpr std::uint64_t too_little_space = 100 * mebibyte;
constexpr auto clock_tolerance = 2min;

CheckResult check_disk(const fs::path& directory) {
  auto place = directory;
  while (!fs::exists(place) && place.has_relative_path()) place = place.parent_path();
  struct statvfs status{};
  if (::statvfs(place.c_str(), &status) != 0) return {"disk", State::skipped, "its free space cannot be determined"};
  const std::uint64_t free = status.f_bavail * status.f_frsize;
  const auto what = fmt::format("{} MiB are free for {}", free / mebibyte, directory.string());
  constexpr auto remedy = "free some space: trash/ of the data directory may be deleted, and the older files in logs/";
  if (status.f_files > 0 && status.f_favail == 0) {
    return {"disk", State::failure,
            fmt::format("no more files can be created in {}: no inode is free", directory.string()),
            "delete files on that disk; `df -i` shows how many it can hold"};
  }
  if (free < too_little_space) return {"disk", State::failure, what, remedy};
  if (free < little_space) return {"disk", State::warning, what, remedy};
  return {"disk", State::good, what};
}

/// A gateway file with a future date shows that the clock was set back, or is wrong now.
CheckResult check_clock(const fs::path& directory) {
  const std::string database(data_files::database);
  for (const auto& name : {database, database + "-wal", fmt::format("logs/{}", data_files::log)}) {
    std::error_code error;
    const auto written = fs::last_write_time(directory / name, error);
    if (error || written <= fs::file_time_type::clock::now() + clock_tolerance) continue;
    return {"clock", State::warning, fmt::format("{} was written in the future: the clock was set back", name),
            "set the clock: timedatectl set-ntp true"};
  }
  return {"clock", State::good, to_iso8601(SystemClock().now())};
}

CheckResult check_sandbox(const DoctorContext& context) {
  if (context.settings && context.settings->sandbox == SandboxKind::none) {
    return {"sandbox", State::warning, "it is off: commands of agents can do whatever you can",
            "remove `sandbox: none` from config.yaml"};
  }
  if (const auto problem = file_limit_problem())
    return {"sandbox", State::warning, *problem, "until then the gateway does not start with this limit"};
  const Sandbox sandbox({.home = context.directory.home, .data_directory = context.directory.path});
  if (const auto problem = sandbox.problem())
    return {"sandbox", State::warning, *problem, "until then agents run no commands"};
  return {"sandbox", State::good, "commands of agents are isolated (bubblewrap)"};
}

/// Whether the gateway could listen at its configured address.
CheckResult check_port(const Settings& settings) {
  const auto where = fmt::format("{}:{}", settings.host, settings.port);
  Loop loop;
  boost::system::error_code error;
  const auto host = settings.host == "localhost" ? std::string("127.0.0.1") : settings.host;
  const auto address = asio::ip::make_address(host, error);
  if (error)
    return {"port", State::failure, fmt::format("{} is not an address", settings.host), "set host in config.yaml"};
  const asio::ip::tcp::endpoint endpoint(address, static_cast<std::uint16_t>(settings.port));
  asio::ip::tcp::acceptor acceptor(loop);
  acceptor.open(endpoint.protocol(), error);
  acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1, error);
  if (!error) return {"port", State::good, fmt::format("{} is free", where)};
  return {"port", State::failure, fmt::format("{} is not available: {}", where, error.message()),
          "stop the program that uses it (ss -tlnp shows which), or set another port in config.yaml"};
}

/// The gateway locks this file, so it must be a regular file without other hard links.
std::optional<CheckResult> wrong_lock(const fs::path& directory) {
  const auto path = directory / data_files::lock;
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return std::nullopt;
  return CheckResult{"gateway", State::failure, fmt::format("{} is no regular file", path.string()),
                     obstruction_remedy(path)};
}

Task<CheckResult> token_is_taken(const FoundGateway& gateway) {
  const Client client(gateway);
  co_await client.get("/health");
  if (co_await client.is_authorized())
    co_return CheckResult{"gateway", State::good, fmt::format("it responds at {}", gateway.url)};
  co_return CheckResult{
      "gateway", State::failure,
      fmt::format("it runs but {}: {}", gateway.token ? "rejects the token" : "there is no token to authenticate with",
                  authorization_problem(gateway)),
      "restart it, without --no-token and auth: none"};
}

}  // namespace

CheckResults check_host(const DoctorContext& context) {
  return {check_disk(context.directory.path), check_clock(context.directory.path), check_sandbox(context)};
}

Task<CheckResults> check_gateway(DoctorContext& context, std::optional<std::string> data_dir) {
  CheckResults results;
  std::filesystem::path own;
  try {
    own = own_directory(context.directory.path);
  } catch (const StartError& error) {
    co_return CheckResults{{"gateway", State::skipped, error.what()}};
  }
  if (auto wrong = wrong_lock(own)) co_return CheckResults{*std::move(wrong)};
  if (!find_running_gateway(own)) {
    results.push_back({"gateway", State::warning, "none runs", "agw serve, or agw service install"});
    if (context.settings) results.push_back(check_port(*context.settings));
    co_return results;
  }
  try {
    context.gateway = find_gateway(data_dir);
    results.push_back(co_await token_is_taken(*context.gateway));
  } catch (const std::exception& error) {
    results.push_back({"gateway", State::failure, error.what(), "look into it: agw logs --level warn"});
  }
  co_return results;
}

}  // namespace agw::cli
