#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "models/wire.hpp"

namespace agw::testing {

/// What a run would see of a streamed answer.
struct ReadAnswer {
  std::string text;
  std::string reasoning;
  ModelOutcome outcome;

  const ModelReply& reply() const {
    const auto* failure = std::get_if<ModelFailure>(&outcome);
    EXPECT_EQ(failure, nullptr) << failure->message;
    return std::get<ModelReply>(outcome);
  }
  const ModelFailure& failure() const { return std::get<ModelFailure>(outcome); }
};

/// Reads `stream` as the network would bring it in pieces of `piece` bytes.
inline ReadAnswer read_stream(const WireFormat& wire, std::string_view stream,
                              std::size_t piece = std::string_view::npos,
                              std::string_view content_type = "text/event-stream") {
  ReadAnswer answer;
  const OnDelta on_delta = [&](const Delta& delta) {
    (delta.kind == Delta::Kind::text ? answer.text : answer.reasoning) += delta.text;
  };
  const auto reader = wire.reader(on_delta);
  const auto splitter = wire.splitter(content_type, [&](const Frame& frame) { reader->read(frame); });
  for (; !stream.empty(); stream.remove_prefix(std::min(piece, stream.size()))) splitter->feed(stream.substr(0, piece));
  splitter->finish();
  answer.outcome = reader->outcome();
  return answer;
}

}  // namespace agw::testing
