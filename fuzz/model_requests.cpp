// Requests to model services: a program's request in one format is converted to each of the others, as JSON that a
// strict service accepts.

#include <iterator>
#include <memory>

#include "api/error.hpp"
#include "base/json/json.hpp"
#include "features/client_api/anthropic_messages.hpp"
#include "features/client_api/chat_completions.hpp"
#include "features/client_api/responses.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace {

template <class Read>
void attempt(Read read, const agw::json::object& body) {
  static const agw::ProviderSettings settings{.name = "fuzzed"};
  static const std::unique_ptr<agw::WireFormat> formats[] = {
      agw::anthropic_format(settings), agw::gemini_format(settings), agw::ollama_format(settings),
      agw::openai_chat_format(settings), agw::openai_responses_format(settings)};
  try {
    auto call = read(body).request.call;
    call.model = "model-1";
    for (const auto& format : formats) {
      const auto written = agw::to_json(format->request(call));
      agw::fuzzing::require(agw::is_utf8(written));
      const auto again = agw::parse_json(written);
      agw::fuzzing::require(again && agw::to_json(*again) == written);
    }
  } catch (const agw::ApiError&) {
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto body = agw::parse_json(agw::fuzzing::text_of(data, size));
  if (!body || !body->is_object()) return 0;
  attempt(agw::read_chat_completion, body->get_object());
  attempt(agw::read_response_request, body->get_object());
  attempt(agw::read_anthropic_messages, body->get_object());
  return 0;
}
