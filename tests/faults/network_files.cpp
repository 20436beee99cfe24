// A library for LD_PRELOAD that simulates NFS, which supports neither locks of directories nor renames with flags.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>

extern "C" __attribute__((visibility("default"))) int flock(int file, int operation) {
  static const auto real = reinterpret_cast<int (*)(int, int)>(::dlsym(RTLD_NEXT, "flock"));
  if ((::fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY) return real(file, operation);
  errno = EBADF;
  return -1;
}

extern "C" __attribute__((visibility("default"))) int renameat2(int from, const char* old_name, int to,
                                                                const char* new_name, unsigned flags) noexcept {
  if (flags == 0) return ::renameat(from, old_name, to, new_name);
  errno = EINVAL;
  return -1;
}
