#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace agw {
int serve(const ServeOptions& options);
}

int main(int count, char** arguments) {
  return agw::cli::run(agw::cli::commands(agw::serve), {arguments + 1, arguments + count});
}
