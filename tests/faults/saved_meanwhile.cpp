// A library for LD_PRELOAD that saves files as a person's editor does, at the worst moment: immediately before the
// program gives a file that it wrote its final name, moves a file, or removes one.
//
//   SAVED_MEANWHILE   a directory. A file in it is moved to where the program does so with a file of the same name,
//   once.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace {

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

int rename_at(int from_directory, const char* from, int to_directory, const char* to) {
  static auto* const function = real<int(int, const char*, int, const char*)>("renameat");
  return function(from_directory, from, to_directory, to);
}

void save(int directory, const char* name) {
  const char* saved = std::getenv("SAVED_MEANWHILE");
  const auto error = errno;
  if (saved) rename_at(AT_FDCWD, (std::string(saved) + '/' + name).c_str(), directory, name);
  errno = error;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int renameat(int from_directory, const char* from, int to_directory,
                                                               const char* to) {
  save(from_directory, from);
  save(to_directory, to);
  return rename_at(from_directory, from, to_directory, to);
}

extern "C" __attribute__((visibility("default"))) int renameat2(int from_directory, const char* from, int to_directory,
                                                                const char* to, unsigned flags) {
  static auto* const function = real<int(int, const char*, int, const char*, unsigned)>("renameat2");
  save(from_directory, from);
  save(to_directory, to);
  return function(from_directory, from, to_directory, to, flags);
}

extern "C" __attribute__((visibility("default"))) int unlinkat(int directory, const char* name, int flags) {
  static auto* const function = real<int(int, const char*, int)>("unlinkat");
  save(directory, name);
  return function(directory, name, flags);
}
