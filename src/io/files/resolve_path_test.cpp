#include "io/files/resolve_path.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

class ResolvePathTest : public ::testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(root_ / "a/b");
    std::ofstream(root_ / "a/file") << "text";
  }

  testing::ScratchDirectory directory_;
  fs::path root_ = directory_.path();
};

TEST_F(ResolvePathTest, APathWithoutLinksIsOnlyTidied) {
  EXPECT_EQ(resolve_path(root_ / "a/b"), root_ / "a/b");
  EXPECT_EQ(resolve_path(root_.string() + "//a/./b/"), root_ / "a/b");
  EXPECT_EQ(resolve_path(root_ / "a/b/../file"), root_ / "a/file");
  EXPECT_EQ(resolve_path("/.."), "/");
}

TEST_F(ResolvePathTest, LinksAreFollowedWhereverTheyLead) {
  fs::create_symlink("a/b", root_ / "relative");
  fs::create_symlink(root_ / "a", root_ / "absolute");
  fs::create_symlink("/", root_ / "top");
  EXPECT_EQ(resolve_path(root_ / "relative"), root_ / "a/b");
  EXPECT_EQ(resolve_path(root_ / "absolute/b"), root_ / "a/b");
  EXPECT_EQ(resolve_path(root_ / "top/usr"), "/usr");
}

TEST_F(ResolvePathTest, AParentIsTheOneOfTheLinksTarget) {
  fs::create_symlink("a/b", root_ / "link");
  EXPECT_EQ(resolve_path(root_ / "link/../file"), root_ / "a/file");
}

TEST_F(ResolvePathTest, WhatDoesNotExistStandsAsItIsWritten) {
  EXPECT_EQ(resolve_path(root_ / "none/x/../y"), root_ / "none/y");
  EXPECT_EQ(resolve_path(root_ / "none/../../.."), root_.parent_path().parent_path());
  EXPECT_EQ(resolve_path(root_ / "a/file/x"), root_ / "a/file/x");
}

TEST_F(ResolvePathTest, ALinkToNothingIsFollowedToo) {
  fs::create_symlink("/nowhere/at/all", root_ / "dangling");
  EXPECT_EQ(resolve_path(root_ / "dangling/x"), "/nowhere/at/all/x");
}

TEST_F(ResolvePathTest, ACircleOfLinksEnds) {
  fs::create_symlink("two", root_ / "one");
  fs::create_symlink("one", root_ / "two");
  EXPECT_TRUE(is_within(resolve_path(root_ / "one/x"), root_));
}

TEST(IsWithinTest, GoesByWholeNames) {
  EXPECT_TRUE(is_within("/home/me", "/home/me"));
  EXPECT_TRUE(is_within("/home/me/x", "/home/me"));
  EXPECT_FALSE(is_within("/home/meme", "/home/me"));
  EXPECT_FALSE(is_within("/home", "/home/me"));
}

}  // namespace
}  // namespace agw
