#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/programs.hpp"
#include "cli/commands/service_unit.hpp"
#include "config/data_directory.hpp"
#include "io/files/atomic_file.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr auto unit_name = "agent-gateway.service";
constexpr int program_missing = 127;

struct ServiceOptions {
  bool no_start = false;
  std::optional<std::string> data_dir;
};

/// The directory of a user's own systemd units.
fs::path unit_path() {
  const char* configuration = std::getenv("XDG_CONFIG_HOME");
  const auto home = find_data_directory(std::nullopt, process_environment()).home;
  const fs::path base = configuration && *configuration ? fs::path(configuration) : home / ".config";
  return base / "systemd/user" / unit_name;
}

int systemctl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"systemctl", "--user"});
  return run_program(arguments);
}

void require_systemctl(std::vector<std::string> arguments) {
  const auto shown = fmt::format("systemctl --user {}", fmt::join(arguments, " "));
  const auto status = systemctl(std::move(arguments));
  if (status == program_missing) throw std::runtime_error("there is no systemctl: this host does not run systemd");
  if (status != 0) {
    throw std::runtime_error(
        fmt::format("`{}` failed with status {}: if systemd cannot be reached, log in as yourself and not by su or "
                    "sudo, or run the gateway with `agw serve`",
                    shown, status));
  }
}

/// The data directory for the unit, which must name it: systemd starts the gateway without the environment of this
/// command.
std::optional<std::string> named_data_directory(const ServiceOptions& options) {
  if (options.data_dir) return options.data_dir;
  const auto environment = process_environment();
  const auto found = find_data_directory(std::nullopt, environment).path;
  const auto without_variable = [&](const std::string& name) {
    return name == "AGENT_GATEWAY_DATA_DIR" ? std::nullopt : environment(name);
  };
  if (found == find_data_directory(std::nullopt, without_variable).path) return std::nullopt;
  return found.string();
}

int install(const ServiceOptions& options) {
  const auto path = unit_path();
  fs::create_directories(path.parent_path());
  replace_file(path, service_unit(fs::canonical("/proc/self/exe"), named_data_directory(options)), 0644);
  std::cerr << path.string() << " is written.\n";
  require_systemctl({"daemon-reload"});
  if (options.no_start) {
    require_systemctl({"enable", unit_name});
    return 0;
  }
  const auto data = data_directory(options.data_dir);
  if (const auto running = running_gateway(data)) {
    throw std::runtime_error(fmt::format("a gateway (process {}) already runs on {}: stop it, then run this again",
                                         running->pid, data.string()));
  }
  require_systemctl({"enable", "--now", unit_name});
  // systemd reports success once the process has started, before it serves requests.
  if (!wait_until_up(data)) {
    throw std::runtime_error(fmt::format(
        "the gateway does not start: `journalctl --user --unit {}` and {}/logs show why", unit_name, data.string()));
  }
  std::cerr << "The gateway runs, and will from now on when you log in. To run it even without a login: loginctl "
               "enable-linger\n";
  return 0;
}

int uninstall() {
  const auto path = unit_path();
  if (!fs::exists(path)) throw std::runtime_error(fmt::format("there is no {}", path.string()));
  systemctl({"disable", "--now", unit_name});
  fs::remove(path);
  require_systemctl({"daemon-reload"});
  std::cerr << path.string() << " is removed. The data stays.\n";
  return 0;
}

int status(const ServiceOptions& options) {
  const auto path = unit_path();
  std::cout << (fs::exists(path) ? path.string() : std::string("not installed: agw service install")) << '\n'
            << std::flush;
  const auto running = running_gateway(data_directory(options.data_dir));
  const auto unit = systemctl({"--no-pager", "--lines=0", "status", unit_name});
  if (unit == program_missing) throw std::runtime_error("there is no systemctl: this host does not run systemd");
  if (unit != 0 && running) std::cerr << fmt::format("A gateway runs anyway (process {}).\n", running->pid);
  return unit == 0 ? 0 : 1;
}

}  // namespace

Action service_install_command(Arguments& arguments) {
  auto options = std::make_shared<ServiceOptions>();
  arguments.flag("--no-start", options->no_start, "Do not start it before the next login");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return install(*options); };
}

Action service_uninstall_command(Arguments&) { return uninstall; }

Action service_status_command(Arguments& arguments) {
  auto options = std::make_shared<ServiceOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return status(*options); };
}

}  // namespace agw::cli
