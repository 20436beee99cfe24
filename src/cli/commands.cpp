#include "cli/commands.hpp"

#include <utility>

namespace agw::cli {

std::vector<Command> commands(std::function<int(const ServeOptions&)> serve) {
  return {
      {"serve", "Run the gateway in the foreground",
       [serve = std::move(serve)](Arguments& arguments) { return serve_command(arguments, serve); }},
  };
}

}  // namespace agw::cli
