#pragma once

#include <functional>

namespace agw::cli {

/// Runs `work` in a child process, and answers its exit status; what it throws leaves this function in the child. Where
/// SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the child, or comes to this process and ends both, `clear_up` takes away
/// here what the work has left, and this process ends by the same signal. Only while there are no other threads.
int in_child(const std::function<int()>& work, const std::function<void()>& clear_up);

/// For the work: from now on it is done to its end, whichever of those signals comes.
void finish_in_any_case();

}  // namespace agw::cli
