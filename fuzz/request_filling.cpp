// Heads of requests in which secrets are filled in: if the strict parser accepts the head, it also accepts the result,
// with the same fields and the same body. Without a stand-in, nothing changes.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/http/request_parser.hpp"
#include "io/proxy/request_filling.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  agw::RequestParser parser;
  const auto used = parser.put(input);
  if (!parser.head_done() || parser.refusal()) return 0;
  auto raw = input.substr(0, used);
  raw.erase(0, raw.find_first_not_of("\r\n"));
  const std::vector<agw::Filling> fillings{{.stand_in = "STANDIN", .value = "a b/c:%?\"\\"}};
  const auto filled = agw::filled(raw, fillings);
  if (!agw::holds_stand_in(raw, "STANDIN")) require(filled == raw);
  agw::RequestParser again;
  require(again.put(filled) == filled.size() && again.head_done() && !again.refusal());
  require(again.head().fields.size() == parser.head().fields.size());
  require(again.head().method == parser.head().method);
  require(again.head().chunked == parser.head().chunked);
  require(again.head().content_length == parser.head().content_length);
  const agw::HostPort target{.host = "a.example", .port = 443};
  require(agw::may_be_filled(again.head(), target) == agw::may_be_filled(parser.head(), target));
  return 0;
}
