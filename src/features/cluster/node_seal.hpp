#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace agw {

/// A request of a node to another one directly, over HTTP.
struct NodeCall {
  std::string from;         ///< the name of the node that asks
  std::int64_t epoch = 0;   ///< of its start
  std::int64_t number = 0;  ///< of its calls since then
  std::string to;
  std::int64_t to_epoch = 0;
  std::string path;
};

/// The header of a call, and its value: who asks, with an HMAC of all with the cluster's secret. Nobody else can make
/// one, for that node and its present start.
inline constexpr std::string_view node_seal_header = "x-agw-node";
std::string node_seal(std::string_view secret, const NodeCall& call);

/// Knows the seals that are meant for a node, and each only once.
/// Example: src/features/cluster/node_seal_test.cpp: NodeSealTest.EachSealCountsOnce
class NodeSeals {
public:
  /// Of later calls of the same node, so many may overtake one.
  static constexpr std::int64_t window = 1'000;

  NodeSeals(std::string secret, std::string node, std::int64_t epoch)
      : secret_(std::move(secret)), node_(std::move(node)), epoch_(epoch) {}

  /// Whether another node has sealed a call of `path` with `seal`, and it comes for the first time.
  bool accept(std::string_view seal, const std::string& path);

private:
  struct Seen {
    std::int64_t epoch = 0;
    std::set<std::int64_t> numbers{};  ///< the latest
  };
  bool is_new(const NodeCall& call);

  const std::string secret_;
  const std::string node_;
  const std::int64_t epoch_;
  std::map<std::string, Seen> seen_;  ///< by node
};

}  // namespace agw
