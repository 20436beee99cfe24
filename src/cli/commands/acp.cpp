#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <boost/asio/steady_timer.hpp>

#include "cli/acp/acp_agent.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/output/line_streams.hpp"
#include "io/process/blocking.hpp"
#include "io/process/process_setup.hpp"

namespace agw::cli {

namespace {

/// Fits a picture of the maximum size that the gateway accepts, in base64.
constexpr std::size_t max_line = 32 << 20;

/// Ends this program, which has nothing left to do. An error is a failure unless it says that the client has closed its
/// end: a client that leaves may do so just before it ends the input.
[[noreturn]] void end_unwritten(int error) {
  const bool has_left = error == EPIPE || error == ECONNRESET;
  if (!has_left) fmt::print(stderr, "agw: cannot write the output: {}\n", std::generic_category().message(error));
  ::_exit(has_left ? 0 : 1);
}

/// Releases memory once nothing was read or written for a while, since the next wait may be long. Use it on the loop
/// only.
class IdleRelease {
public:
  explicit IdleRelease(Loop& loop) : timer_(loop) {}

  void postpone() {
    timer_.expires_after(idle_time);
    timer_.async_wait([](const boost::system::error_code& error) {
      if (error) return;
      ::malloc_trim(0);
      release_all_code_pages();
    });
  }

private:
  static constexpr std::chrono::milliseconds idle_time{200};
  asio::steady_timer timer_;
};

/// Memory of at least this size is returned to the system when it is freed. Without a fixed size, the allocator would
/// keep the memory of the second long line forever.
constexpr int min_returned_at_once = 128 << 10;

Task<int> speak(Loop& loop, const AcpOptions& options) {
  ::mallopt(M_MMAP_THRESHOLD, min_returned_at_once);
  IdleRelease idle(loop);
  AcpAgent agent(loop, options, [&idle](const std::string& message) {
    if (const int error = write_line(STDOUT_FILENO, message)) end_unwritten(error);
    idle.postpone();
  });
  LineReader lines(STDIN_FILENO, max_line);
  idle.postpone();
  // Waits for input on a separate thread, so that answers can continue.
  BlockingPool input(loop, 1);
  while (const auto line = co_await input.run([&lines] { return lines.next(); })) {
    idle.postpone();
    if (line->is_too_long)
      agent.refuse_line(max_line);
    else if (line->text.find_first_not_of(" \t\r") != line->text.npos)
      agent.take(line->text);
  }
  co_await agent.stop();
  co_return 0;
}

}  // namespace

Action acp_command(Arguments& arguments) {
  auto options = std::make_shared<AcpOptions>();
  arguments.option("--agent", options->agent,
                   "The agent that answers in new sessions, by name or id (default: assistant)");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] {
    std::signal(SIGPIPE, SIG_IGN);
    Loop loop;
    return run(loop, speak(loop, *options));
  };
}

}  // namespace agw::cli
