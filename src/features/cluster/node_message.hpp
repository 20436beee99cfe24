#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

/// A message of a node to one or all others, in one or several frames.
struct NodeMessage {
  std::string from;        ///< the node's name
  std::int64_t epoch = 0;  ///< identifies the node's start; increases with each start
  /// Numbers the node's broadcast frames, from 1, so that receivers notice missing ones. 0 in a message to a single
  /// node.
  std::int64_t number = 0;
  std::string kind;
  std::string id;     ///< shared by a request and its answers
  json::object head;  ///< members that depend on the kind
  std::string body;
};

/// Writes a message as frames of a head and at most `limit` bytes. Each has a seal: an HMAC of the subject and the
/// frame, keyed with the cluster's secret. So access to the NATS server is not enough to impersonate a node.
/// `message.number` is the number of the first frame.
std::vector<std::string> sealed_frames(std::string_view secret, std::string_view subject, const NodeMessage& message,
                                       std::size_t limit);

/// Reassembles messages from the frames of each node.
/// Example: src/features/cluster/node_message_test.cpp: NodeMessageTest.FramesAreJoined
class NodeMessageReader {
public:
  /// Larger messages are dropped.
  static constexpr std::size_t max_size = 64 * 1024 * 1024;

  explicit NodeMessageReader(std::string secret) : secret_(std::move(secret)) {}

  struct Frame {
    std::string from;
    std::int64_t epoch = 0;
    std::int64_t number = 0;
    std::optional<NodeMessage> message;  ///< set if the frame completes a message
  };
  /// Reads a frame; nullopt if its seal is invalid.
  std::optional<Frame> take(std::string_view subject, std::string_view frame);

private:
  struct PartialMessage {
    NodeMessage message;
    std::int64_t next_part = 0;
  };

  const std::string secret_;
  std::map<std::string, PartialMessage> partial_;  ///< by node and subject
};

}  // namespace agw
