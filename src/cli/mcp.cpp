#include <cstdio>
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/mcp_server.hpp"
#include "io/blocking.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t longest_message = 16 << 20;

struct McpOptions {
  bool all = false;
  std::optional<std::string> data_dir;
};

/// The next line of standard input; nothing at its end. One that is too long is cut, so that it is refused as no JSON.
std::optional<std::string> next_line() {
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c == '\n') return line;
    if (line.size() < longest_message) line += static_cast<char>(c);
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

void print_line(const std::string& message) { std::cout << message << '\n' << std::flush; }

Task<int> speak(Loop& loop, const McpOptions& options) {
  const McpTools tools(loop, options.data_dir, options.all);
  McpServer server(loop, tools, print_line);
  // A thread of its own waits for input, so that calls go on meanwhile.
  BlockingPool input(loop, 1);
  while (const auto line = co_await input.run(next_line)) {
    if (line->find_first_not_of(" \t\r") != line->npos) co_await server.take(*line);
  }
  co_await server.stop();
  co_return 0;
}

}  // namespace

Action mcp_command(Arguments& arguments) {
  auto options = std::make_shared<McpOptions>();
  arguments.flag("--all", options->all,
                 "Offer everything that the API can do, not only reading, chat, run and propose");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    find_gateway(options->data_dir);
    Loop loop;
    return run(loop, speak(loop, *options));
  };
}

}  // namespace agw::cli
