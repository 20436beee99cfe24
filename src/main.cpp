#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "serve.hpp"

int main(int count, char** arguments) {
  return agw::cli::run(agw::cli::commands(agw::serve), {arguments + 1, arguments + count});
}
