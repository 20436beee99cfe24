#pragma once

#include <string>
#include <vector>

namespace agw::cli {

/// Runs a program with this process's terminal, environment and directory, and waits for its end; the first argument is
/// its name, looked up in PATH. Answers its exit status, 128 + the number of a signal that ended it; 127 where there is
/// no such program. Ctrl-C meanwhile is the program's, not ours. Throws std::system_error where nothing can be started.
int run_program(const std::vector<std::string>& arguments);

}  // namespace agw::cli
