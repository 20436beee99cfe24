// The head of a request to the proxy of a sandbox, written by any program in it: it is rejected, or the proxy forwards
// one request for the host that was authorized.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "io/proxy/proxy_request.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_printable(char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; }

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The head must not be readable as two requests, or as one for another host.
void check_head(std::string_view head) {
  require(head.ends_with("\r\n\r\n") && count(head, "\r\n\r\n") == 1);
  require(count(head, "\n") == count(head, "\r\n") && count(head, "\r") == count(head, "\r\n"));
  require(count(head, "\r\nHost: ") == 1);
  require(head.find('\0') == head.npos);
}

void check_target(const agw::HostPort& target) {
  require(!target.host.empty() && target.port != 0 && std::ranges::all_of(target.host, is_printable));
  const auto again = agw::to_host_port(target.text(), 0);
  require(again && again->host == target.host && again->port == target.port);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = agw::read_proxy_request({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  check_target(request->target);
  if (request->is_tunnel)
    require(request->head.empty());
  else
    check_head(request->head);
  return 0;
}
