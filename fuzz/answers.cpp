// Streams of model services, in each wire format. Whatever they contain, and wherever they split characters, they end
// as an answer or a failure, and the deltas are valid text.

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/json/json.hpp"
#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace {

const agw::WireFormat& format_of(std::uint8_t number) {
  static const agw::ProviderSettings settings{.name = "fuzzed"};
  static const std::unique_ptr<agw::WireFormat> formats[] = {
      agw::anthropic_format(settings), agw::gemini_format(settings), agw::ollama_format(settings),
      agw::openai_chat_format(settings), agw::openai_responses_format(settings)};
  return *formats[number % std::size(formats)];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  std::string streamed;
  const agw::OnDelta on_delta = [&](const agw::Delta& delta) {
    if (delta.kind == agw::Delta::Kind::text) streamed += delta.text;
  };
  const auto& format = format_of(data[0]);
  const auto reader = format.reader(on_delta);
  const auto splitter =
      format.splitter(data[0] & 64 ? '{' : 'd', [&](const agw::Frame& frame) { reader->read(frame); });
  if (splitter->feed({reinterpret_cast<const char*>(data + 1), size - 1})) splitter->finish();
  const auto outcome = reader->outcome();
  if (const auto* failure = std::get_if<agw::ModelFailure>(&outcome)) {
    if (!agw::is_utf8(failure->message)) std::abort();
  }
  if (!agw::is_utf8(streamed)) std::abort();
  return 0;
}
