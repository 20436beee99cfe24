#pragma once

#include <pthread.h>

#include <functional>

namespace agw {

/// A thread with a name and a small stack (1 MiB: a larger one may be given a huge page, which is 2 MiB of memory as
/// soon as it is touched). An exception that leaves its body ends the process. Joined by its destructor.
class Thread {
public:
  /// `name` has at most 15 characters. Throws std::system_error.
  Thread(const char* name, std::function<void()> body);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

private:
  pthread_t handle_;
};

}  // namespace agw
