#include "features/cluster/node_seal.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

const std::string cluster_key = "the cluster's";
const std::string asked_path = "/cluster/apps/one";

NodeCall call_of_b(std::int64_t number, std::int64_t epoch = 7) {
  return {.from = "b", .epoch = epoch, .number = number, .to = "a", .to_epoch = 5, .path = asked_path};
}

TEST(NodeSealTest, EachSealIsValidOnce) {
  NodeSeals seals(cluster_key, "a", 5);
  const auto first = node_seal(cluster_key, call_of_b(1));
  const auto second = node_seal(cluster_key, call_of_b(2));
  EXPECT_TRUE(seals.accept(second, asked_path)) << "a later call may overtake one";
  EXPECT_TRUE(seals.accept(first, asked_path));
  EXPECT_FALSE(seals.accept(first, asked_path));
  EXPECT_FALSE(seals.accept(second, asked_path));
}

TEST(NodeSealTest, ASealIsForOneNodeItsStartAndOnePath) {
  const auto seal = node_seal(cluster_key, call_of_b(1));
  EXPECT_FALSE(NodeSeals(cluster_key, "c", 5).accept(seal, asked_path));
  EXPECT_FALSE(NodeSeals(cluster_key, "a", 6).accept(seal, asked_path));
  EXPECT_FALSE(NodeSeals(cluster_key, "a", 5).accept(seal, "/cluster/apps/two"));
  EXPECT_FALSE(NodeSeals("another cluster's", "a", 5).accept(seal, asked_path));
  EXPECT_TRUE(NodeSeals(cluster_key, "a", 5).accept(seal, asked_path));
}

TEST(NodeSealTest, ANodeDoesNotCallItself) {
  auto own = call_of_b(1);
  own.from = "a";
  EXPECT_FALSE(NodeSeals(cluster_key, "a", 5).accept(node_seal(cluster_key, own), asked_path));
}

TEST(NodeSealTest, SealsOfAnEarlierStartAreInvalid) {
  NodeSeals seals(cluster_key, "a", 5);
  EXPECT_TRUE(seals.accept(node_seal(cluster_key, call_of_b(1, 8)), asked_path));
  EXPECT_FALSE(seals.accept(node_seal(cluster_key, call_of_b(2, 7)), asked_path));
  EXPECT_TRUE(seals.accept(node_seal(cluster_key, call_of_b(2, 8)), asked_path));
}

TEST(NodeSealTest, OldNumbersStayInvalidOnceForgotten) {
  NodeSeals seals(cluster_key, "a", 5);
  EXPECT_TRUE(seals.accept(node_seal(cluster_key, call_of_b(1)), asked_path));
  EXPECT_TRUE(seals.accept(node_seal(cluster_key, call_of_b(2 + NodeSeals::window)), asked_path));
  EXPECT_FALSE(seals.accept(node_seal(cluster_key, call_of_b(1)), asked_path));
  EXPECT_FALSE(seals.accept(node_seal(cluster_key, call_of_b(2)), asked_path));
  EXPECT_TRUE(seals.accept(node_seal(cluster_key, call_of_b(3)), asked_path));
}

TEST(NodeSealTest, InvalidSealsAreRefused) {
  NodeSeals seals(cluster_key, "a", 5);
  const auto seal = node_seal(cluster_key, call_of_b(1));
  for (const auto& text : {std::string(), std::string("b"), std::string("b 7"), std::string("b x 1 00"),
                           "b 7 2 " + seal.substr(6), seal + "0", seal.substr(0, seal.size() - 1), " " + seal}) {
    EXPECT_FALSE(seals.accept(text, asked_path)) << text;
  }
  EXPECT_TRUE(seals.accept(seal, asked_path));
}

}  // namespace
}  // namespace agw
