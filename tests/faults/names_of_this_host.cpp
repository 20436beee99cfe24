// A library for LD_PRELOAD that resolves names below nip.example to this host, as an attacker's name server can.
#include <dlfcn.h>
#include <netdb.h>

#include <string_view>

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node, const char* service,
                                                                  const addrinfo* hints, addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool is_attackers = node && std::string_view(node).ends_with(".nip.example");
  return real(is_attackers ? "127.0.0.1" : node, service, hints, found);
}
