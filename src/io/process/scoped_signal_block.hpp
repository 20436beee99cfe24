#pragma once

#include <signal.h>

namespace agw {

/// Blocks all signals on the calling thread during its lifetime. Threads started during that time inherit this.
class ScopedSignalBlock {
public:
  ScopedSignalBlock() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~ScopedSignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ScopedSignalBlock(const ScopedSignalBlock&) = delete;
  ScopedSignalBlock& operator=(const ScopedSignalBlock&) = delete;

private:
  sigset_t before_{};
};

}  // namespace agw
