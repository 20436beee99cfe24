#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

/// A message of a node to others, in one or several frames.
struct NodeMessage {
  std::string from;        ///< the node's name
  std::int64_t epoch = 0;  ///< of its start; each has a higher one than all before it
  /// Counts the node's frames to all, from 1: who misses one finds out. 0 in what is sent to one node.
  std::int64_t number = 0;
  std::string kind;
  std::string id;     ///< of a request and its answers
  json::object head;  ///< what belongs to the kind
  std::string body;
};

/// Writes a message as frames of at most `limit` bytes and a head, each with a seal: an HMAC with the cluster's secret
/// of the subject and the frame. Nobody who can only reach the server can pretend to be a node. `number` is that of the
/// first frame.
std::vector<std::string> sealed_frames(std::string_view secret, std::string_view subject, const NodeMessage& message,
                                       std::size_t limit);

/// Puts the frames of each node together again.
/// Example: src/features/cluster/node_message_test.cpp: NodeMessageTest.FramesArePutTogether
class NodeMessageReader {
public:
  /// Messages beyond are dropped.
  static constexpr std::size_t max_size = 64 * 1024 * 1024;

  explicit NodeMessageReader(std::string secret) : secret_(std::move(secret)) {}

  struct Frame {
    std::string from;
    std::int64_t epoch = 0;
    std::int64_t number = 0;
    std::optional<NodeMessage> message;  ///< if the frame is its last
  };
  /// Takes a frame; nullopt if its seal is not right.
  std::optional<Frame> take(std::string_view subject, std::string_view frame);

private:
  struct Begun {
    NodeMessage message;
    std::int64_t next_part = 0;
  };

  const std::string secret_;
  std::map<std::string, Begun> begun_;  ///< by node and subject
};

}  // namespace agw
