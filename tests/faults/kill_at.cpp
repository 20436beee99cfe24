// A library for LD_PRELOAD that kills its program at a chosen step: before it sends data, changes a file or syncs one,
// or after it received data.
//
// KILL_STEPS names a file of two numbers of eight bytes each: the steps left until the kill, or 0 for none (a test
// writes it while the program runs), and the steps so far.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace {

struct Steps {
  std::atomic<long> left;
  std::atomic<long> count;
};

Steps* steps() {
  static auto* const shared = []() -> Steps* {
    const char* path = std::getenv("KILL_STEPS");
    const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return nullptr;
    void* memory = ::mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<Steps*>(memory);
  }();
  return shared;
}

void take_step() {
  auto* const shared = steps();
  if (!shared) return;
  ++shared->count;
  if (shared->left > 0 && --shared->left == 0) ::kill(::getpid(), SIGKILL);
}

bool is_socket(int file) {
  struct stat status{};
  return ::fstat(file, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

// STEP(result, name, (parameters), (arguments), before, after): wraps a function, which takes a step before or after
// its call. Its C++ name differs, because the headers declare some functions with a variable number of arguments.
#define STEP(result, name, parameters, arguments, before, after)                                      \
  extern "C" __attribute__((visibility("default"))) result stepping_##name parameters __asm__(#name); \
  result stepping_##name parameters {                                                                 \
    static auto* const real = reinterpret_cast<result(*) parameters>(::dlsym(RTLD_NEXT, #name));      \
    if (before) take_step();                                                                          \
    const auto returned = real arguments;                                                             \
    if (returned > 0 && (after)) take_step();                                                         \
    return returned;                                                                                  \
  }

STEP(ssize_t, send, (int file, const void* bytes, size_t size, int flags), (file, bytes, size, flags), true, false)
STEP(ssize_t, sendmsg, (int file, const msghdr* message, int flags), (file, message, flags), true, false)
STEP(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size), is_socket(file), false)
STEP(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count), is_socket(file), false)
STEP(ssize_t, recv, (int file, void* bytes, size_t size, int flags), (file, bytes, size, flags), false, true)
STEP(ssize_t, recvmsg, (int file, msghdr* message, int flags), (file, message, flags), false, true)
STEP(ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size), false, is_socket(file))
STEP(ssize_t, pwrite64, (int file, const void* bytes, size_t size, off_t offset), (file, bytes, size, offset), true,
     false)
STEP(int, fsync, (int file), (file), true, false)
STEP(int, fdatasync, (int file), (file), true, false)
STEP(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to), true, false)
STEP(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags), true,
     false)
STEP(int, linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags), true, false)
STEP(int, mkdirat, (int directory, const char* path, mode_t mode), (directory, path, mode), true, false)
STEP(int, unlinkat, (int directory, const char* path, int flags), (directory, path, flags), true, false)
