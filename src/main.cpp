#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/command_table.hpp"
#include "io/process/process_setup.hpp"
#include "serve.hpp"

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  // A gateway serves whether or not somebody reads its one line; a command exists for its output.
  agw::open_standard_streams(words.empty() || words.front() != "serve");
  agw::keep_rights_to_own_files();
  return agw::cli::run(agw::cli::commands(agw::serve), words);
}
