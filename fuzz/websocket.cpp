// The bytes of WebSockets: however they are split, they are the same messages.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/websocket/websocket_frame.hpp"

namespace {

std::string read(std::string_view bytes, std::size_t step) {
  agw::websocket::FrameReader reader;
  std::string seen;
  while (!bytes.empty()) {
    reader.put(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    while (const auto message = reader.next()) {
      seen += std::to_string(static_cast<int>(message->kind)) + message->payload + '\n';
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (read(bytes, std::max<std::size_t>(size, 1)) != read(bytes, 1)) std::abort();
  return 0;
}
