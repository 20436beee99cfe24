#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace agw {

/// A direct HTTP request of a node to another one.
struct NodeCall {
  std::string from;         ///< the name of the calling node
  std::int64_t epoch = 0;   ///< of the calling node's start
  std::int64_t number = 0;  ///< counts its calls since that start
  std::string to;
  std::int64_t to_epoch = 0;
  std::string path;
};

/// The header of a call, and its value: the caller, and an HMAC of all members keyed with the cluster's secret. A seal
/// is valid only for one node and its current start.
inline constexpr std::string_view node_seal_header = "x-agw-node";
std::string node_seal(std::string_view secret, const NodeCall& call);

/// Verifies the seals of calls to a node, and accepts each only once.
/// Example: src/features/cluster/node_seal_test.cpp: NodeSealTest.EachSealIsValidOnce
class NodeSeals {
public:
  /// How many later calls of the same node may overtake a call.
  static constexpr std::int64_t window = 1'000;

  NodeSeals(std::string secret, std::string node, std::int64_t epoch)
      : secret_(std::move(secret)), node_(std::move(node)), epoch_(epoch) {}

  /// Whether `seal` is another node's seal for a call of `path`, and has not been accepted before.
  bool accept(std::string_view seal, const std::string& path);

private:
  struct Seen {
    std::int64_t epoch = 0;
    std::set<std::int64_t> numbers{};  ///< the latest accepted ones
  };
  bool is_new(const NodeCall& call);

  const std::string secret_;
  const std::string node_;
  const std::int64_t epoch_;
  std::map<std::string, Seen> seen_;  ///< by node
};

}  // namespace agw
