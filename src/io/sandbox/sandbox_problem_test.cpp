#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sandbox/sandbox.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;

TEST(SandboxProblem, SaysWhatToDo) {
  const Sandbox missing({.home = "/nowhere", .data_directory = "/nowhere/data", .program = "agw-no-bwrap"});
  EXPECT_THAT(missing.problem().value(), HasSubstr("apt install bubblewrap"));
  const Sandbox broken({.home = "/nowhere", .data_directory = "/nowhere/data", .program = "/bin/false"});
  EXPECT_THAT(broken.problem().value(), HasSubstr("user namespaces"));
  EXPECT_THAT(broken.problem().value(), HasSubstr("sandbox: none"));
  EXPECT_THROW(broken.wrap({"true"}, {.directory = "/tmp", .writable = {"/tmp"}}), ProcessError);
}

TEST(SandboxProblem, EndsWithItsCause) {
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "UBSan needs descriptors to check an object";
#endif
  const Sandbox sandbox({.home = "/nowhere", .data_directory = "/nowhere/data"});
  if (const auto problem = sandbox.problem()) GTEST_SKIP() << *problem;
  const Sandbox without_descriptors({.home = "/nowhere", .data_directory = "/nowhere/data"});
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto problem = without_descriptors.problem();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_THAT(problem.value_or("no problem"), HasSubstr("cannot be sandboxed now"));
  EXPECT_EQ(without_descriptors.problem(), std::nullopt);
}

}  // namespace
}  // namespace agw
