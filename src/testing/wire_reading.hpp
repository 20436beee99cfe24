#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/text/ascii.hpp"
#include "models/wire_format.hpp"

namespace agw::testing {

/// A streamed answer as received by a run.
struct ReadResponse {
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

/// Reads `stream` in pieces of `piece` bytes, as from a network.
inline ReadResponse read_stream(const WireFormat& wire, std::string_view stream,
                                std::size_t piece = std::string_view::npos) {
  ReadResponse response;
  const OnDelta on_delta = [&](const Delta& delta) {
    if (delta.kind != Delta::Kind::text && delta.kind != Delta::Kind::reasoning) return;
    (delta.kind == Delta::Kind::text ? response.text : response.reasoning) += delta.text;
  };
  const auto reader = wire.reader(on_delta);
  const auto start = stream.find_first_not_of(white_space);
  const auto splitter =
      wire.splitter(start == stream.npos ? ' ' : stream[start], [&](const Frame& frame) { reader->read(frame); });
  for (; !stream.empty(); stream.remove_prefix(std::min(piece, stream.size()))) splitter->feed(stream.substr(0, piece));
  splitter->finish();
  response.outcome = reader->outcome();
  return response;
}

}  // namespace agw::testing
