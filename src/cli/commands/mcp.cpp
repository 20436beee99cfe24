#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/mcp/bridge.hpp"
#include "cli/output/line_streams.hpp"
#include "io/process/blocking.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_message_length = 16 << 20;
/// How long calls may continue after the end of the input.
constexpr std::chrono::milliseconds finish_limit = 10min;
constexpr auto poll_interval = 200ms;

struct McpOptions {
  bool all = false;
  std::optional<std::string> data_dir;
};

/// Forwarded instead of a message that is too long: the gateway rejects it as invalid JSON.
constexpr auto not_json = "{";

/// A client that has left is noticed by `finish`.
void print_line(const std::string& message) { write_line(STDOUT_FILENO, printable_json(message)); }

/// Whether the reader of standard output has closed it.
bool is_output_closed() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) == 1;
}

Task<> give_up_on(asio::signal_set& signals, StopSource& abandon) {
  boost::system::error_code cancelled;
  co_await signals.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  if (!cancelled) abandon.request();
}

/// Waits for the current calls. A client that stops this program closes its input, waits, and then sends a signal.
Task<> finish(Loop& loop, McpBridge& bridge) {
  co_await bridge.end_asking();
  StopSource abandon;
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  TaskGroup watching(loop);
  watching.spawn(give_up_on(signals, abandon));
  for (auto waited = 0ms; waited < finish_limit; waited += poll_interval) {
    const auto end = co_await bridge.wait(abandon, poll_interval);
    if (end != WaitResult::timed_out || is_output_closed()) break;
  }
  signals.cancel();
  signals.clear();  // a second SIGTERM ends the program immediately
  co_await watching.join();
  co_await bridge.stop();
}

Task<int> speak(Loop& loop, const McpOptions& options) {
  McpBridge bridge(loop, {.data_dir = options.data_dir, .all = options.all}, print_line);
  // Waits for input on a separate thread, so that calls can continue.
  BlockingPool input(loop, 1);
  LineReader lines(STDIN_FILENO, max_message_length);
  while (const auto line = co_await input.run([&lines] { return lines.next(); })) {
    if (line->is_too_long)
      co_await bridge.take(not_json);
    else if (line->text.find_first_not_of(" \t\r") != line->text.npos)
      co_await bridge.take(line->text);
  }
  co_await finish(loop, bridge);
  co_return 0;
}

}  // namespace

Action mcp_command(Arguments& arguments) {
  auto options = std::make_shared<McpOptions>();
  arguments.flag("--all", options->all, "Offer all functions of the API, not only reading, chat, run and propose");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    const bool was_missing = !running_gateway(data_directory(options->data_dir));
    Loop loop;
    const auto status = run(loop, speak(loop, *options));
    if (was_missing) find_gateway(options->data_dir);  // reports on standard error that it is still missing
    return status;
  };
}

}  // namespace agw::cli
