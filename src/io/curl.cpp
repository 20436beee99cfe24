#include "io/curl.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/log.hpp"

namespace agw {

namespace {

constexpr auto library_name = "libcurl.so.4";

template <class Function>
void find(void* library, const char* name, Function& function, std::string& error) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function && error.empty()) error = fmt::format("{} has no {}: install a newer libcurl4", library_name, name);
}

void find_functions(void* library, Curl& curl) {
  find(library, "curl_global_init", curl.global_init, curl.error);
  find(library, "curl_version_info", curl.version_info, curl.error);
  find(library, "curl_easy_init", curl.easy_init, curl.error);
  find(library, "curl_easy_cleanup", curl.easy_cleanup, curl.error);
  find(library, "curl_easy_setopt", curl.easy_setopt, curl.error);
  find(library, "curl_easy_getinfo", curl.easy_getinfo, curl.error);
  find(library, "curl_easy_strerror", curl.easy_strerror, curl.error);
  find(library, "curl_slist_append", curl.slist_append, curl.error);
  find(library, "curl_slist_free_all", curl.slist_free_all, curl.error);
  find(library, "curl_multi_init", curl.multi_init, curl.error);
  find(library, "curl_multi_cleanup", curl.multi_cleanup, curl.error);
  find(library, "curl_multi_setopt", curl.multi_setopt, curl.error);
  find(library, "curl_multi_add_handle", curl.multi_add_handle, curl.error);
  find(library, "curl_multi_remove_handle", curl.multi_remove_handle, curl.error);
  find(library, "curl_multi_socket_action", curl.multi_socket_action, curl.error);
  find(library, "curl_multi_info_read", curl.multi_info_read, curl.error);
  find(library, "curl_multi_assign", curl.multi_assign, curl.error);
  find(library, "curl_multi_strerror", curl.multi_strerror, curl.error);
}

Curl load() {
  Curl curl;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    curl.error = fmt::format("{} cannot be loaded, install the package libcurl4 ({})", library_name, dlerror());
    return curl;
  }
  find_functions(library, curl);
  if (!curl.error.empty()) return curl;
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    curl.error = fmt::format("{} cannot be initialised", library_name);
    return curl;
  }
  const auto* version = curl.version_info(CURLVERSION_NOW);
  if (!(version->features & CURL_VERSION_ASYNCHDNS)) {
    log::warn("{} {} resolves names on the calling thread: slow name servers will stall the gateway", library_name,
              version->version);
  }
  return curl;
}

}  // namespace

const Curl& Curl::get() {
  static const Curl curl = load();
  return curl;
}

}  // namespace agw
