#pragma once

#include <string>
#include <vector>

namespace agw::cli {

/// Runs a program with this process's terminal, environment and directory, and waits for its end; the first argument is
/// its name, looked up in PATH. Returns its exit status, 128 + the number of a signal that ended it, or 127 if it does
/// not exist. Ctrl-C goes to the program only. Throws std::system_error if it cannot be started.
int run_program(const std::vector<std::string>& arguments);

}  // namespace agw::cli
