#include <csignal>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/async/cancellation.hpp"
#include "base/data_files.hpp"
#include "base/error.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "features/access/token.hpp"
#include "io/files/lock_file.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr int attempts = 100;
constexpr auto token_poll_interval = 50ms;

struct TokenOptions {
  std::optional<std::string> data_dir;
};

Task<int> warn_if_unauthorized(const FoundGateway& gateway) {
  if (!co_await Client(gateway).is_authorized()) {
    std::cerr << fmt::format("The running gateway does not accept it: {}.\n", authorization_problem(gateway));
  }
  co_return 0;
}

Token require_token(const std::filesystem::path& directory) {
  if (auto token = Token::load(directory)) return *std::move(token);
  throw StartError(
      ExitStatus::failure,
      fmt::format(
          "there is no token in {}: `agw serve` creates one when it starts, except with --no-token or auth: none",
          directory.string()));
}

int show(const TokenOptions& options) {
  const auto directory = data_directory(options.data_dir);
  const auto token = require_token(directory);
  std::cout << token.secret() << '\n';
  if (!running_gateway(directory)) return 0;
  Loop loop;
  const auto gateway = find_gateway(options.data_dir);
  return run(loop, warn_if_unauthorized(gateway));
}

Task<bool> runs_without_token(const Client& client) {
  constexpr int not_available = 501;
  try {
    co_await client.get("/pair/refresh");
  } catch (const ResponseError& refusal) {
    co_return refusal.status() == not_available;
  }
  co_return false;
}

/// Waits until the gateway accepts the new token, and thus no longer accepts the old one.
Task<int> wait_until_taken(FoundGateway gateway) {
  StopSource never;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    // The token may have been replaced again.
    gateway.token = require_token(gateway.data_directory).secret();
    const Client client(gateway);
    if (co_await client.is_authorized()) co_return 0;
    if (co_await runs_without_token(client)) {
      std::cerr << "The running gateway was started without a token (--no-token or auth: none): it accepts none.\n";
      co_return 0;
    }
    co_await pause(never, token_poll_interval);
  }
  throw std::runtime_error(
      fmt::format("the gateway (process {}) still accepts the old token: see {}/logs, and restart it", gateway.pid,
                  gateway.data_directory.string()));
}

/// Nodes check their files themselves, because they may run on other hosts.
std::string about_other_nodes(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / data_files::cluster, ignored)) return {};
  if (std::filesystem::exists(directory / data_files::nodes, ignored))
    return "Nodes that share this directory take the new one within a few seconds.\n";
  return fmt::format(
      "The other nodes of the cluster still have the old one: copy {} to their data directories. They take it within a "
      "few seconds.\n",
      (directory / data_files::token).string());
}

int rotate(const TokenOptions& options) {
  const auto directory = data_directory(options.data_dir);
  require_token(directory);
  const auto own = own_directory(directory);
  Token::replace(directory);
  if (find_running_gateway(own)) {
    Loop loop;
    // A starting gateway may have read the old token; once it can be found here, it handles the signal.
    const auto gateway = find_gateway(options.data_dir);
    ::kill(gateway.pid, SIGUSR1);
    run(loop, wait_until_taken(gateway));
  }
  std::cout << "The token was replaced. Pair your devices again: agw pair\n" << about_other_nodes(directory);
  return 0;
}

}  // namespace

Action token_rotate_command(Arguments& arguments) {
  auto options = std::make_shared<TokenOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return rotate(*options); };
}

Action token_show_command(Arguments& arguments) {
  auto options = std::make_shared<TokenOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return show(*options); };
}

}  // namespace agw::cli
