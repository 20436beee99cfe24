#include <unistd.h>

#include <iostream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/qr_code.hpp"
#include "io/http/web_url.hpp"

namespace agw::cli {

namespace {

struct PairOptions {
  std::optional<std::string> code;
  bool json = false;
  std::optional<std::string> url;
  std::optional<std::string> data_dir;
};

/// Rejects a query and a fragment, because the page's own path is appended.
std::string checked_url(const std::string& given) {
  const auto url = WebUrl::parse(given);
  if (!url || given.find_first_of("?#") != given.npos) {
    throw StartError(ExitStatus::usage,
                     fmt::format("--url {}: must be an address that begins with http:// or https://, without a query, "
                                 "such as https://gateway.example.org",
                                 one_line(given)));
  }
  return url->text();
}

/// The gateway's address for the device.
std::string device_url(const FoundGateway& gateway, const PairOptions& options) {
  auto url = options.url ? *options.url : configured_public_url(gateway);
  if (url.empty()) url = with_reachable_host(gateway.url);
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void print_for_people(const std::string& link, const json::object& response) {
  const auto modules = qr_modules(link);
  const auto columns = columns_at(STDOUT_FILENO);
  if (!modules) {
    std::cerr << "There is no QR code: install the package libqrencode4 to see one.\n";
  } else if (columns && *columns < columns_of(*modules)) {
    std::cerr << fmt::format("The QR code is not shown: it takes {} columns, and the terminal has {}.\n",
                             columns_of(*modules), *columns);
  } else {
    std::cout << draw(*modules, terminal_at(STDOUT_FILENO)) << '\n';
  }
  std::cout << "Code   " << one_line(string_or_empty(response, "code")) << '\n'
            << "Link   " << one_line(link) << '\n'
            << "Until  " << one_line(string_or_empty(response, "expiresAt")) << ", for one device\n";
}

Task<int> print_code(const FoundGateway& gateway, const PairOptions& options) {
  const auto url = device_url(gateway, options);
  auto response = co_await Client(gateway).get("/pair/refresh");
  auto& object = response.as_object();
  const auto link = fmt::format("{}/ui/#code={}", url, string_or_empty(object, "code"));
  object["url"] = link;
  if (options.json)
    print_json(response);
  else
    print_for_people(link, object);
  co_return 0;
}

/// The response to `POST /channels/pair`. The API's error for an unknown code says only that.
Task<json::object> confirmed(const FoundGateway& gateway, const std::string& code) {
  try {
    co_return co_await Client(gateway).post("/channels/pair", json::object{{"code", code}});
  } catch (const ResponseError& error) {
    if (!error.is_not_found()) throw;
    throw std::runtime_error(
        fmt::format("{}: a channel with `pairing: true` sends one to a person it does not know who writes to it in a "
                    "private chat; it is valid for ten minutes and for one use: check its digits, or, once it is no "
                    "longer valid, write to the channel again for a new one",
                    error.what()));
  }
}

/// Pairs the sender of a message in a channel.
Task<int> confirm_sender(const FoundGateway& gateway, const PairOptions& options) {
  const auto response = co_await confirmed(gateway, *options.code);
  if (options.json) {
    print_json(response);
    co_return 0;
  }
  std::cout << fmt::format("The channel {} answers {} (id {}) from now on.\n", string_or_empty(response, "channel"),
                           one_line(string_or_empty(response, "name")), one_line(string_or_empty(response, "sender")));
  co_return 0;
}

int pair(PairOptions options) {
  if (options.url) options.url = checked_url(*options.url);
  Loop loop;
  const auto gateway = find_gateway(options.data_dir);
  return run(loop, options.code ? confirm_sender(gateway, options) : print_code(gateway, options));
}

}  // namespace

Action pair_command(Arguments& arguments) {
  auto options = std::make_shared<PairOptions>();
  arguments.word("code", options->code, "The code that a channel has sent to a new person, to let them in");
  arguments.option("--url", options->url, "The gateway's address for the device (default: public_url, or its own)");
  arguments.flag("--json", options->json, "Print JSON");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return pair(*options); };
}

}  // namespace agw::cli
