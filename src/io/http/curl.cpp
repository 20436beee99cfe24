#include "io/http/curl.hpp"

#include <atomic>

#include <fmt/format.h>

#include "base/dynamic_library.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

std::atomic<bool> has_loaded = false;

constexpr auto library_name = "libcurl.so.4";

void find_functions(DynamicLibrary& library, Curl& curl) {
  library.find("curl_global_init", curl.global_init);
  library.find("curl_version_info", curl.version_info);
  library.find("curl_easy_init", curl.easy_init);
  library.find("curl_easy_cleanup", curl.easy_cleanup);
  library.find("curl_easy_setopt", curl.easy_setopt);
  library.find("curl_easy_getinfo", curl.easy_getinfo);
  library.find("curl_easy_pause", curl.easy_pause);
  library.find("curl_easy_recv", curl.easy_recv);
  library.find("curl_easy_send", curl.easy_send);
  library.find("curl_easy_strerror", curl.easy_strerror);
  library.find("curl_slist_append", curl.slist_append);
  library.find("curl_slist_free_all", curl.slist_free_all);
  library.find("curl_multi_init", curl.multi_init);
  library.find("curl_multi_cleanup", curl.multi_cleanup);
  library.find("curl_multi_setopt", curl.multi_setopt);
  library.find("curl_multi_add_handle", curl.multi_add_handle);
  library.find("curl_multi_remove_handle", curl.multi_remove_handle);
  library.find("curl_multi_socket_action", curl.multi_socket_action);
  library.find("curl_multi_info_read", curl.multi_info_read);
  library.find("curl_multi_assign", curl.multi_assign);
  library.find("curl_multi_strerror", curl.multi_strerror);
}

Curl load() {
  Curl curl;
  DynamicLibrary library(library_name, "libcurl4");
  find_functions(library, curl);
  curl.error = library.problem();
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
  has_loaded = true;
  return curl;
}

bool Curl::is_loaded() { return has_loaded; }

}  // namespace agw
