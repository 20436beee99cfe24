// Bodies for the APIs of OpenAI and Anthropic: they are accepted, or rejected with the invalid member.

#include <cstdint>
#include <string_view>

#include "api/error.hpp"
#include "base/json/json.hpp"
#include "features/client_api/anthropic_messages.hpp"
#include "features/client_api/chat_completions.hpp"
#include "features/client_api/responses.hpp"

namespace {

template <class Read>
void attempt(Read read, const agw::json::object& body) {
  try {
    read(body);
  } catch (const agw::ApiError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto body = agw::parse_json({reinterpret_cast<const char*>(data), size});
  if (!body || !body->is_object()) return 0;
  attempt(agw::read_chat_completion, body->get_object());
  attempt(agw::read_response_request, body->get_object());
  attempt(agw::read_anthropic_messages, body->get_object());
  attempt(agw::read_anthropic_count, body->get_object());
  return 0;
}
