#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "cli/client/client.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/programs.hpp"

namespace agw::cli {

namespace {

struct OpenOptions {
  bool no_browser = false;
  std::optional<std::string> data_dir;
};

/// With TLS, uses the public name: the certificate is probably valid only for that.
std::string page_url(const FoundGateway& gateway) {
  if (!gateway.url.starts_with("https://")) return gateway.url;
  try {
    const auto url = configured_public_url(gateway);
    return url.starts_with("https://") ? url : gateway.url;
  } catch (const StartError&) {
    return gateway.url;  // the file has become invalid since the start
  }
}

Task<int> open(const FoundGateway& gateway, const OpenOptions& options) {
  const auto url = page_url(gateway);
  const auto answer = co_await Client(gateway).get("/pair/refresh?brief=true");
  const auto code = string_member(answer.as_object(), "code");
  if (!code) throw std::runtime_error("the gateway returned no code");
  const auto file = gateway.data_directory / "open.html";
  write_link(file, fmt::format("{}/ui/#code={}", url, *code), "Open the gateway");
  if (!options.no_browser && open_in_browser(file)) co_return 0;
  std::cout << file.string() << '\n';
  std::cerr << "Open this file in a browser on this machine within a minute.\n";
  co_return options.no_browser ? 0 : 1;
}

}  // namespace

Action open_command(Arguments& arguments) {
  auto options = std::make_shared<OpenOptions>();
  arguments.flag("--no-browser", options->no_browser, "Only print the path of the file to open in a browser");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->data_dir);
    return run(loop, open(gateway, *options));
  };
}

}  // namespace agw::cli
