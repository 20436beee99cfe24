#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace agw::cli {

/// Runs a program with this process's terminal, environment and directory, and waits for its end. The first argument is
/// its name, looked up in PATH. Returns its exit status, 128 + the number of the signal that ended it, or 127 if it
/// does not exist. Only the program receives Ctrl-C. Throws std::system_error if it cannot be started.
int run_program(const std::vector<std::string>& arguments);

/// Writes a page that redirects to `link`, readable only by the user. The browser gets the file instead of the link as
/// an argument, because all users of the host can see the arguments of programs. Throws std::system_error.
void write_link(const std::filesystem::path& file, const std::string& link, const std::string& about);

/// Opens the page in a browser ($BROWSER, otherwise the desktop's); returns false if there is none.
bool open_in_browser(const std::filesystem::path& file);

/// Runs `work` in a child process and returns its exit status; in the child, exceptions of `work` leave this function.
/// If SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the child, or reaches this process and ends both, this process calls
/// `clean_up` to remove leftovers of `work`, and ends by the same signal. Call it only while there are no other
/// threads.
int run_in_child(const std::function<int()>& work, const std::function<void()>& clean_up);

/// Called by `work` to ignore those signals from then on, so that it runs to its end.
void ignore_termination();

}  // namespace agw::cli
