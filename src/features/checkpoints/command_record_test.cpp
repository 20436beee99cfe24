#include <gtest/gtest.h>

#include <optional>

#include "features/checkpoints/service.hpp"
#include "testing/checkpoints_fixture.hpp"
#include "testing/no_descriptors.hpp"

namespace agw {
namespace {

using testing::CheckpointsFixture;
using testing::with_fixture;

TEST(CommandRecord, SaysThatATreeCouldNotBeListedAfterTheCommand) {
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "the sanitizer checks objects by means of a descriptor of its own";
#endif
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    std::optional<testing::NoDescriptors> none;
    co_await fixture.command("r", [&] {
      fixture.edit("a.txt", "the agent's");
      none.emplace();
    });
    none.reset();
    const auto shown = co_await fixture.checkpoints.changes("r");
    EXPECT_EQ(shown.not_covered.at(0).path, fixture.project.string());
    EXPECT_EQ(shown.not_covered.at(0).reason, "it could not be listed after a command");
  });
}

}  // namespace
}  // namespace agw
