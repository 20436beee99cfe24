// A library for LD_PRELOAD in which the lookup of names below hang.example never ends, as if no name server answered
// and the system had no limit.
#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

#include <string_view>

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node, const char* service,
                                                                  const addrinfo* hints, addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  while (node && std::string_view(node).ends_with(".hang.example")) ::pause();
  return real(node, service, hints, found);
}
