#pragma once

#include <pthread.h>

#include <functional>

namespace agw {

/// A thread with a name and a small stack (1 MiB: a larger one may be given a huge page, which is 2 MiB of memory as
/// soon as it is touched). No signal's handler runs on it. An exception that leaves its body ends the process. Joined
/// by its destructor.
class WorkerThread {
public:
  /// `name` has at most 15 characters. Throws std::system_error.
  WorkerThread(const char* name, std::function<void()> body);
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

private:
  pthread_t handle_;
};

}  // namespace agw
