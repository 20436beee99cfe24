// Responses of a Matrix server, each a line of JSON: messages are read or ignored, and a response never causes an
// endless series of calls.

#include <string>
#include <utility>

#include "base/json/json.hpp"
#include "features/channels/matrix.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "io/http/http_client.hpp"
#include "testing/run.hpp"

namespace agw {

namespace {

std::string_view matrix_answers;

}  // namespace

// Replaces features/channels/service_call.cpp, which uses the network.
Task<ServiceResponse> call_service(HttpClient&, const ChannelAccount&, ServiceCall call, StopSource&) {
  fuzzing::require(call.path.starts_with("/_matrix/") && call.path.find_first_of(" \r\n") == std::string::npos);
  if (matrix_answers.empty()) co_return ServiceResponse{.error = "it is gone"};
  const auto value = parse_json(fuzzing::take_line(matrix_answers));
  co_return ServiceResponse{.status = value ? 200 : 404,
                            .body = value && value->is_object() ? value->get_object() : json::object()};
}

}  // namespace agw

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json_lines(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace agw;
  matrix_answers = fuzzing::text_of(data, size);
  testing::run([&](Loop& loop) -> Task<> {
    HttpClient http(loop);
    const ChannelAccount account{.address = "https://matrix.example.org", .token = "t", .secrets = {}};
    const ChannelSettings settings;
    Matrix matrix(http, account, settings);
    StopSource stop;
    std::string cursor = "first";
    while (!matrix_answers.empty()) {
      auto batch = co_await matrix.read(cursor, stop);
      if (batch.end == ReceivedBatch::End::read) cursor = batch.cursor;
      for (const auto& message : batch.messages) {
        fuzzing::require(!message.sender.empty() && !message.place.chat.empty() && is_utf8(message.text));
        for (const auto& file : message.files) fuzzing::require(!file.id.empty());
      }
    }
  });
  return 0;
}
