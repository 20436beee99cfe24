#include "cli/similar_word.hpp"

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

const std::vector<std::string> commands{"list", "show", "login", "--json", "--limit"};

TEST(SimilarWord, IsFoundForASlip) {
  EXPECT_EQ(similar_word("lst", commands), "list");
  EXPECT_EQ(similar_word("lists", commands), "list");
  EXPECT_EQ(similar_word("shwo", commands), "show");
  EXPECT_EQ(similar_word("lgoin", commands), "login");
  EXPECT_EQ(similar_word("--jsn", commands), "--json");
  EXPECT_EQ(similar_word("--limits", commands), "--limit");
}

TEST(SimilarWord, IsNotFoundForAnotherWord) {
  EXPECT_EQ(similar_word("remove", commands), "");
  EXPECT_EQ(similar_word("ls", commands), "");
  EXPECT_EQ(similar_word("", commands), "");
  EXPECT_EQ(similar_word("list", {}), "");
  EXPECT_EQ(similar_word(std::string(1'000'000, 'x'), commands), "");
}

}  // namespace
}  // namespace agw::cli
