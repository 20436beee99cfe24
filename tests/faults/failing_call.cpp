// A library for LD_PRELOAD that makes one system call fail, as it can when memory, descriptors or disk space run out or
// a disk breaks.
//
//   FAILING_CALL    the function, such as fsync
//   FAILING_AT      the number of the call that fails, from 1; 0: none
//   FAILING_ERRNO   the value of errno
//   FAILING_FAILED  a file that is created when the call fails
//   FAILING_COUNTS  a file to which the number of calls of each function is written when the program exits normally
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Function {
  const char* name;
  void* real;
  std::atomic<long> calls{0};
  Function* next = first;

  static inline Function* first = nullptr;

  explicit Function(const char* function_name) : name(function_name), real(::dlsym(RTLD_NEXT, function_name)) {
    first = this;
  }

  /// Counts a call, and returns whether it must fail.
  bool fails() {
    static const char* const failing = variable("FAILING_CALL");
    static const long at = std::atol(variable("FAILING_AT"));
    const auto number = ++calls;
    if (number != at || std::strcmp(name, failing) != 0) return false;
    if (const char* failed = variable("FAILING_FAILED"); *failed) ::close(::creat(failed, S_IRUSR | S_IWUSR));
    errno = std::atoi(variable("FAILING_ERRNO"));
    return true;
  }
};

__attribute__((destructor)) void write_counts() {
  const char* path = variable("FAILING_COUNTS");
  if (!*path) return;
  auto* file = std::fopen(path, "w");
  if (!file) return;
  for (const auto* function = Function::first; function; function = function->next) {
    std::fprintf(file, "%s %ld\n", function->name, function->calls.load());
  }
  std::fclose(file);
}

}  // namespace

// FAILS(result, name, (parameters), (arguments)): wraps a function, which counts its calls and fails if it is its turn.
// Its C++ name differs, because the headers declare some functions with a variable number of arguments.
#define FAILS_IF(condition, result, name, parameters, arguments)                                     \
  static Function name##_function(#name);                                                            \
  extern "C" __attribute__((visibility("default"))) result failing_##name parameters __asm__(#name); \
  result failing_##name parameters {                                                                 \
    if ((condition) && name##_function.fails()) return -1;                                           \
    return reinterpret_cast<result(*) parameters>(name##_function.real) arguments;                   \
  }
#define FAILS(result, name, parameters, arguments) FAILS_IF(true, result, name, parameters, arguments)

FAILS(int, open, (const char* path, int flags, mode_t mode), (path, flags, mode))
FAILS(int, open64, (const char* path, int flags, mode_t mode), (path, flags, mode))
FAILS(int, openat, (int directory, const char* path, int flags, mode_t mode), (directory, path, flags, mode))
FAILS(ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size))
FAILS(ssize_t, pread64, (int file, void* bytes, size_t size, off_t offset), (file, bytes, size, offset))
FAILS(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size))
FAILS(ssize_t, pwrite, (int file, const void* bytes, size_t size, off_t offset), (file, bytes, size, offset))
FAILS(ssize_t, pwrite64, (int file, const void* bytes, size_t size, off_t offset), (file, bytes, size, offset))
FAILS(int, ftruncate64, (int file, off_t size), (file, size))
FAILS(int, fsync, (int file), (file))
FAILS(int, fdatasync, (int file), (file))
FAILS(int, syncfs, (int file), (file))
FAILS(int, fchmod, (int file, mode_t mode), (file, mode))
FAILS(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
FAILS(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags))
FAILS(int, link, (const char* from, const char* to), (from, to))
FAILS(int, unlinkat, (int directory, const char* path, int flags), (directory, path, flags))
FAILS(int, mkdirat, (int directory, const char* path, mode_t mode), (directory, path, mode))
FAILS(int, dup, (int file), (file))
FAILS(int, pipe2, (int* ends, int flags), (ends, flags))
FAILS(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILS(int, socketpair, (int domain, int type, int protocol, int* ends), (domain, type, protocol, ends))
FAILS(int, connect, (int file, const sockaddr* to, socklen_t size), (file, to, size))
FAILS(int, accept, (int file, sockaddr* from, socklen_t* size), (file, from, size))
FAILS(int, accept4, (int file, sockaddr* from, socklen_t* size, int flags), (file, from, size, flags))
FAILS(ssize_t, recv, (int file, void* bytes, size_t size, int flags), (file, bytes, size, flags))
FAILS(ssize_t, recvmsg, (int file, msghdr* message, int flags), (file, message, flags))
FAILS(ssize_t, send, (int file, const void* bytes, size_t size, int flags), (file, bytes, size, flags))
FAILS(ssize_t, sendmsg, (int file, const msghdr* message, int flags), (file, message, flags))
FAILS(int, setsockopt, (int file, int level, int name, const void* value, socklen_t size),
      (file, level, name, value, size))
// Only this operation allocates memory.
FAILS_IF(operation == EPOLL_CTL_ADD, int, epoll_ctl, (int file, int operation, int other, epoll_event* event),
         (file, operation, other, event))
FAILS(int, timerfd_settime, (int file, int flags, const itimerspec* time, itimerspec* old), (file, flags, time, old))
FAILS(int, eventfd, (unsigned value, int flags), (value, flags))
FAILS(long, syscall, (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))
