#pragma once

#include <string>

namespace agw {

/// Whether a person started this process at a terminal, so that no service manager waits for its exit status: stdin and
/// stderr are terminals, it is not the first process of a container, and not what systemd itself executed.
bool is_started_by_hand();

/// The path of this program's file, as it was when the process began: an upgrade may replace the file.
std::string program_path();

/// Runs the program at `path` in the place of this one: same process, arguments, environment (with `variable` set to
/// `value` beside) and standard streams; all other descriptors are closed, and signals do what they do at a start, but
/// for SIGHUP where it `was_ignored`. No thread may run any more. Returns only if it failed, with the reason.
std::string restart_program(const std::string& path, const char* variable, const std::string& value,
                            bool hangup_was_ignored);

}  // namespace agw
