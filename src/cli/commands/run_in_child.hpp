#pragma once

#include <functional>

namespace agw::cli {

/// Runs `work` in a child process and returns its exit status; exceptions of `work` leave this function in the child.
/// If SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the child, or reaches this process and ends both, `clean_up` removes in
/// this process what `work` has left, and this process ends by the same signal. Call it only while there are no other
/// threads.
int run_in_child(const std::function<int()>& work, const std::function<void()>& clean_up);

/// Called by `work`, which from now on ignores those signals and runs to its end.
void ignore_termination();

}  // namespace agw::cli
