#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>

namespace agw {

/// Starts a thread with all signals blocked; the caller joins it. `name` has at most 15 characters. An exception that
/// leaves `body` ends the process. Throws std::system_error. Prefer a WorkerThread if its stack is large enough.
pthread_t start_thread(const char* name, std::function<void()> body, std::size_t stack_size);

}  // namespace agw
