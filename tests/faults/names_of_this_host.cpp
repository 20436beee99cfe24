// A library for LD_PRELOAD in which names below nip.example lead to this host, as a name server that a stranger runs
// can have it.
#include <dlfcn.h>
#include <netdb.h>

#include <string_view>

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node, const char* service,
                                                                  const addrinfo* hints, addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool is_strangers = node && std::string_view(node).ends_with(".nip.example");
  return real(is_strangers ? "127.0.0.1" : node, service, hints, found);
}
