#include <iostream>
#include <memory>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/programs.hpp"
#include "cli/commands/redirect_listener.hpp"
#include "features/secrets/service.hpp"

namespace agw::cli {

namespace {

constexpr auto usual_redirect = "http://127.0.0.1/callback";

struct LoginOptions {
  std::string name;
  std::optional<std::string> client_id;
  std::optional<std::string> client_secret;
  bool no_browser = false;
  bool paste = false;
  std::optional<std::string> data_dir;
};

json::object intent_of(const FoundGateway& gateway, const LoginOptions& options, const std::string& redirect) {
  json::object spec{{"redirect_uri", redirect}};
  if (options.client_id) spec["client_id"] = *options.client_id;
  if (options.client_secret) {
    const auto secret = Secrets(gateway.data_directory).find(*options.client_secret);
    if (!secret) throw StartError(ExitStatus::failure, "there is no secret " + *options.client_secret);
    spec["client_secret"] = *secret;
  }
  return spec;
}

/// Starts the login and sends the person to the service.
Task<> begin(const FoundGateway& gateway, const LoginOptions& options, std::string redirect) {
  const auto started = co_await Client(gateway).post(path({"integrations", options.name, "login"}),
                                                     intent_of(gateway, options, redirect));
  const auto link = string_or_empty(started, "authorization_url");
  const auto file = gateway.data_directory / "login.html";
  const bool use_browser = !options.no_browser && !options.paste;
  if (use_browser) write_link(file, link, "Log in");
  if (use_browser && open_in_browser(file)) co_return;
  std::cerr << "Open this address in a browser within ten minutes:\n";
  std::cout << one_line(link) << '\n' << std::flush;
}

Task<> finish(const FoundGateway& gateway, const LoginOptions& options, std::string redirected_to) {
  co_await Client(gateway).post(path({"integrations", options.name, "login", "finish"}),
                                {{"redirected_to", redirected_to}});
  std::error_code ignored;
  std::filesystem::remove(gateway.data_directory / "login.html", ignored);
  std::cerr << one_line(options.name) << " is logged in.\n";
}

Task<int> log_in_by_pasting(const FoundGateway& gateway, const LoginOptions& options) {
  co_await begin(gateway, options, usual_redirect);
  std::cerr << "The browser ends at a page that it cannot show. Paste the address of that page:\n";
  std::string pasted;
  std::getline(std::cin, pasted);
  pasted.erase(pasted.find_last_not_of(" \t\r") + 1);
  co_await finish(gateway, options, pasted);
  co_return 0;
}

Task<int> log_in(Loop& loop, const FoundGateway& gateway, const LoginOptions& options) {
  if (options.paste) co_return co_await log_in_by_pasting(gateway, options);
  RedirectListener listener(loop);
  std::exception_ptr failure;
  try {
    co_await begin(gateway, options, listener.address());
    co_await finish(gateway, options, co_await listener.wait());
  } catch (...) {
    failure = std::current_exception();
  }
  co_await listener.stop();
  if (failure) std::rethrow_exception(failure);
  co_return 0;
}

Task<int> log_out(const FoundGateway& gateway, const LoginOptions& options) {
  co_await Client(gateway).remove(path({"integrations", options.name, "login"}));
  std::cerr << "The login of " << one_line(options.name) << " is deleted.\n";
  co_return 0;
}

}  // namespace

Action extension_login_command(Arguments& arguments) {
  auto options = std::make_shared<LoginOptions>();
  arguments.word("name", options->name, "The integration, by name or id");
  arguments.option("--client-id", options->client_id, "The id of a client that you registered at the service");
  arguments.option("--client-secret", options->client_secret,
                   "The name of the secret (agw secret set) that holds the client's secret");
  arguments.flag("--no-browser", options->no_browser, "Only print the address to open in a browser on this machine");
  arguments.flag("--paste", options->paste,
                 "For a browser elsewhere: print the address, and read the final address from stdin");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->data_dir);
    return run(loop, log_in(loop, gateway, *options));
  };
}

Action extension_logout_command(Arguments& arguments) {
  auto options = std::make_shared<LoginOptions>();
  arguments.word("name", options->name, "The integration, by name or id");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->data_dir);
    return run(loop, log_out(gateway, *options));
  };
}

}  // namespace agw::cli
