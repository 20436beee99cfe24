// The bytes of HTTP connections: however they are split, they are the same requests, or are rejected.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/http/request_parser.hpp"

namespace {

/// Returns the requests read from a connection's bytes, in pieces of at most `step`.
std::string read(std::string_view bytes, std::size_t step) {
  agw::RequestParser parser;
  std::string seen;
  std::string waiting;
  while (!bytes.empty() && !parser.refusal()) {
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (std::size_t used = 1; used > 0 && !waiting.empty() && !parser.refusal();) {
      const bool had_head = parser.head_done();
      used = parser.put(waiting);
      waiting.erase(0, used);
      if (parser.head_done() && !had_head && !parser.refusal()) {
        seen += parser.head().target + '\n';
        parser.collect_body(1024);
        used = 1;
      }
      if (parser.done() && !parser.refusal()) {
        seen += parser.take_body() + '\n';
        parser.reset();
      }
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto whole = read(bytes, bytes.size());
  const auto cut = read(bytes, data[0] % 32 + 1);
  // A rejection may occur before or after a request that is complete by then, but requests never differ.
  const auto common = std::min(whole.size(), cut.size());
  if (whole.compare(0, common, cut, 0, common) != 0) std::abort();
  return 0;
}
