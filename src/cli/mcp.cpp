#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/mcp_server.hpp"
#include "io/blocking.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_message = 16 << 20;
/// How long calls may still take once the input has ended.
constexpr std::chrono::milliseconds patience = 10min;
constexpr auto between_looks = 200ms;

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

void print_line(const std::string& message) {
  print_json_text(message);
  std::cout << std::flush;
}

/// Whether nobody can read any more what is printed.
bool is_output_closed() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) == 1;
}

Task<> give_up_on(asio::signal_set& signals, Stop& give_up) {
  boost::system::error_code cancelled;
  co_await signals.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (!cancelled) give_up.request();
}

/// Waits for the calls under way. A client that ends us closes our input, waits, and then sends a signal.
Task<> finish(Loop& loop, McpServer& server) {
  Stop give_up;
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  Group watching(loop);
  watching.spawn(give_up_on(signals, give_up));
  for (auto waited = 0ms; waited < patience; waited += between_looks) {
    const auto end = co_await server.wait(give_up, between_looks);
    if (end != End::timed_out || is_output_closed()) break;
  }
  signals.cancel();
  signals.clear();  // Another SIGTERM ends us at once.
  co_await watching.join();
  co_await server.stop();
}

Task<int> speak(Loop& loop, const McpOptions& options) {
  const McpTools tools(loop, options.data_dir, options.all);
  McpServer server(loop, tools, print_line);
  // A thread of its own waits for input, so that calls go on meanwhile.
  BlockingPool input(loop, 1);
  while (const auto line = co_await input.run(next_line)) {
    if (line->find_first_not_of(" \t\r") != line->npos) co_await server.take(*line);
  }
  co_await finish(loop, server);
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
