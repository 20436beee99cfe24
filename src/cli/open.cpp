#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "cli/client.hpp"
#include "cli/commands.hpp"
#include "cli/printable.hpp"
#include "cli/run_program.hpp"
#include "io/atomic_file.hpp"

namespace agw::cli {

namespace {

struct OpenOptions {
  bool no_browser = false;
  std::optional<std::string> data_dir;
};

/// A file and not an argument, because every user of the host sees the arguments of browsers.
std::string page(const std::string& link) {
  return fmt::format(
      "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>Agent Gateway</title>\n<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n<p><a href=\"{0}\">Open "
      "the gateway</a> (within a minute)</p>\n",
      link);
}

bool show(const std::filesystem::path& file) {
  const char* browser = std::getenv("BROWSER");
  const std::string program = browser && *browser ? browser : "xdg-open";
  return run_program({program, file.string()}) == 0;
}

Task<int> open(const FoundGateway& gateway, const OpenOptions& options) {
  const auto answer = co_await Client(gateway).get("/pair/refresh?brief=true");
  const auto code = string_member(answer.as_object(), "code");
  if (!code) throw std::runtime_error("the gateway gave no code");
  const auto file = gateway.data_directory / "open.html";
  replace_file(file, page(fmt::format("{}/ui/#code={}", gateway.url, *code)), 0600);
  if (!options.no_browser && show(file)) co_return 0;
  std::cout << file.string() << '\n';
  std::cerr << "Open this file in a browser on this machine within a minute.\n";
  co_return options.no_browser ? 0 : 1;
}

}  // namespace

Action open_command(Arguments& arguments) {
  auto options = std::make_shared<OpenOptions>();
  arguments.flag("--no-browser", options->no_browser, "Only print the path of the file that a browser is to open");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->data_dir);
    return run(loop, open(gateway, *options));
  };
}

}  // namespace agw::cli
