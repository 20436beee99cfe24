#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "io/process_setup.hpp"
#include "serve.hpp"

int main(int count, char** arguments) {
  agw::open_standard_streams();
  return agw::cli::run(agw::cli::commands(agw::serve), {arguments + 1, arguments + count});
}
