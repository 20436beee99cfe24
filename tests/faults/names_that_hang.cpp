// A library for LD_PRELOAD in which lookups of names below hang.example never return, as if no name server responded
// and the resolver had no timeout.
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
