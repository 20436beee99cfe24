#pragma once

#include <pthread.h>

#include <functional>

namespace agw {

/// A named thread with all signals blocked and a small stack (1 MiB; a larger one may get a huge page of 2 MiB at its
/// first use). An exception that leaves its body ends the process. Joined by the destructor.
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
