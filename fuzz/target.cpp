// Targets of requests, and the header fields for the host and origin: paths, queries, hosts and origins.

#include <algorithm>
#include <string>

#include "base/json/json.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "server/http/hosts.hpp"
#include "server/http/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using agw::fuzzing::require;
  static const agw::Hosts hosts({.port = 7420, .hosts = {"box.example"}, .origins = {"https://app.example"}});
  auto text = agw::fuzzing::text_of(data, size);
  const auto line = agw::fuzzing::take_line(text);
  // Heads with such bytes in the target were rejected earlier.
  if (std::ranges::any_of(line, [](unsigned char c) { return c <= ' ' || c == 0x7F; })) return 0;
  const auto target = agw::parse_target(line);
  if (!target.bad_path) {
    for (const auto& segment : target.segments) require(agw::is_utf8(segment) && segment.find('\0') == segment.npos);
  }
  const auto host = agw::fuzzing::take_line(text);
  if (hosts.allows_host(host)) {
    const auto name = agw::host_name(host);
    require(name == "localhost" || name == "box.example" || name.starts_with("127.") || name.find(':') != name.npos);
  }
  hosts.allows_origin(text, host);
  hosts.scheme_of(host);
  return 0;
}
