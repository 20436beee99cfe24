#include <memory>
#include <utility>

#include "cli/command_table.hpp"

namespace agw::cli {

Action serve_command(Arguments& arguments, std::function<int(const ServeOptions&)> serve) {
  auto options = std::make_shared<ServeOptions>();
  arguments.option("--host", options->host, "The address to listen on (default: 127.0.0.1)");
  arguments.option("--port", options->port, 0, 65535, "The port to listen on; 0 picks a free one (default: 7420)");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  arguments.option("--config", options->config, "The configuration file (default: config.yaml in the data directory)");
  arguments.flag("--no-token", options->no_token, "Create no token: endpoints that need one refuse all requests");
  arguments.option("--log-level", options->log_level, {"trace", "debug", "info", "warn", "error", "off"},
                   "The least severe level to log (default: info)");
  arguments.flag("--trace-loop", options->trace_loop,
                 "Log each callback that holds the event loop for over a millisecond, to find what makes it slow");
  arguments.option("--restart", options->restart, {"auto", "exec", "exit"},
                   "How POST /daemon/restart ends: exec runs the program again, exit leaves that to a service manager "
                   "(status 75), auto is exec at a terminal (default: auto)");
  return [options, serve = std::move(serve)] { return serve(*options); };
}

}  // namespace agw::cli
