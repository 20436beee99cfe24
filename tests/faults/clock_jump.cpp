// A library for LD_PRELOAD in which the monotonic clock jumps ahead once, so that operations in progress have taken
// long without a wait.
//
//   CLOCK_JUMP_FILE     the clock jumps once this file exists
//   CLOCK_JUMP_SECONDS  by how much
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>

namespace {

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// By how many seconds the clock is ahead.
time_t ahead() {
  static const char* const file = std::getenv("CLOCK_JUMP_FILE");
  static const char* const seconds = std::getenv("CLOCK_JUMP_SECONDS");
  static std::atomic<time_t> jumped{0};
  if (jumped == 0 && file && seconds && ::access(file, F_OK) == 0) jumped = std::atol(seconds);
  return jumped;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) {
  static const auto original = real<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int result = original(clock, time);
  if (result == 0 && clock == CLOCK_MONOTONIC) time->tv_sec += ahead();
  return result;
}

/// Converts the deadline, because the kernel waits by its own clock.
__attribute__((visibility("default"))) int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                                  clockid_t clock, const timespec* until) {
  static const auto original =
      real<int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>("pthread_cond_clockwait");
  auto limit = *until;
  if (clock == CLOCK_MONOTONIC) limit.tv_sec -= ahead();
  return original(condition, mutex, clock, &limit);
}

}  // extern "C"
