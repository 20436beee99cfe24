#include <arpa/inet.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>

#include "base/data_files.hpp"
#include "base/time.hpp"
#include "cli/client.hpp"
#include "cli/doctor.hpp"
#include "io/lock_file.hpp"
#include "io/sandbox.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using State = Finding::State;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t little_space = 1024 * mebibyte;
constexpr std::uint64_t too_little_space = 100 * mebibyte;
constexpr auto clock_tolerance = 2min;

Finding disk_finding(const fs::path& directory) {
  auto place = directory;
  while (!fs::exists(place) && place.has_relative_path()) place = place.parent_path();
  struct statvfs status{};
  if (::statvfs(place.c_str(), &status) != 0) return {"disk", State::skipped, "its space cannot be asked for"};
  const std::uint64_t free = status.f_bavail * status.f_frsize;
  const auto what = fmt::format("{} MiB are free for {}", free / mebibyte, directory.string());
  constexpr auto remedy = "make room: trash/ and logs/ of the data directory may go";
  if (free < too_little_space) return {"disk", State::failure, what, remedy};
  if (free < little_space) return {"disk", State::warning, what, remedy};
  return {"disk", State::good, what};
}

/// A file of the gateway from the future says that the clock was set back, or is wrong now.
Finding clock_finding(const fs::path& directory) {
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

Finding sandbox_finding(const Patient& patient) {
  if (patient.settings && patient.settings->sandbox == SandboxKind::none) {
    return {"sandbox", State::warning, "it is off: commands of agents can do whatever you can",
            "take `sandbox: none` out of config.yaml"};
  }
  const Sandbox sandbox({.home = patient.directory.home, .data_directory = patient.directory.path});
  if (const auto problem = sandbox.problem())
    return {"sandbox", State::warning, *problem, "until then agents run no commands"};
  return {"sandbox", State::good, "commands of agents are kept apart (bubblewrap)"};
}

/// Whether the gateway could listen where it is configured to.
Finding port_finding(const Settings& settings) {
  const auto where = fmt::format("{}:{}", settings.host, settings.port);
  Loop loop;
  boost::system::error_code error;
  const auto host = settings.host == "localhost" ? std::string("127.0.0.1") : settings.host;
  const auto address = asio::ip::make_address(host, error);
  if (error) return {"port", State::failure, fmt::format("{} is no address", settings.host), "set host in config.yaml"};
  const asio::ip::tcp::endpoint endpoint(address, static_cast<std::uint16_t>(settings.port));
  asio::ip::tcp::acceptor acceptor(loop);
  acceptor.open(endpoint.protocol(), error);
  acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1, error);
  if (!error) return {"port", State::good, fmt::format("{} is free", where)};
  return {"port", State::failure, fmt::format("{} cannot be had: {}", where, error.message()),
          "stop the program that uses it (ss -tlnp shows which), or set another port in config.yaml"};
}

/// The gateway's lock is held on it, so that it can be nothing but a file of its own.
std::optional<Finding> wrong_lock(const fs::path& directory) {
  const auto path = directory / data_files::lock;
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return std::nullopt;
  return Finding{"gateway", State::failure, fmt::format("{} is no regular file", path.string()), out_of_the_way(path)};
}

Task<Finding> token_is_taken(const FoundGateway& gateway) {
  const Client client(gateway);
  co_await client.get("/health");
  if (co_await client.is_let_in())
    co_return Finding{"gateway", State::good, fmt::format("it answers at {}", gateway.url)};
  co_return Finding{
      "gateway", State::failure,
      fmt::format("it runs but {}: {}", gateway.token ? "refuses the token" : "there is no token to come in with",
                  why_not_let_in(gateway)),
      "restart it, without --no-token and auth: none"};
}

}  // namespace

Findings check_host(const Patient& patient) {
  return {disk_finding(patient.directory.path), clock_finding(patient.directory.path), sandbox_finding(patient)};
}

Task<Findings> check_gateway(Patient& patient, std::optional<std::string> data_dir) {
  Findings findings;
  if (auto wrong = wrong_lock(patient.directory.path)) co_return Findings{*std::move(wrong)};
  if (!find_running_gateway(patient.directory.path)) {
    findings.push_back({"gateway", State::warning, "none runs", "agw serve, or agw service install"});
    if (patient.settings) findings.push_back(port_finding(*patient.settings));
    co_return findings;
  }
  try {
    patient.gateway = find_gateway(data_dir);
    findings.push_back(co_await token_is_taken(*patient.gateway));
  } catch (const std::exception& error) {
    findings.push_back({"gateway", State::failure, error.what(), "look into it: agw logs --level warn"});
  }
  co_return findings;
}

}  // namespace agw::cli
