#include "features/extensions/outbox.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "base/async/task_group.hpp"
#include "features/extensions/files.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing::extensions;

/// Extensions with directories. Completed steps are never deleted, so that a later fixture sees the state after a kill.
struct FollowedFixture {
  FollowedFixture(Loop& loop, const testing::ScratchDirectory& directory)
      : data(directory.path()),
        database(loop, {.file = data / "gateway.db", .backups = data / "backups"}),
        outbox(loop, database, data),
        extensions(database, hub, clock, &outbox) {
    extensions.load(database.start_connection());
  }

  std::filesystem::path data;
  FixedClock clock;
  Database database;
  Hub hub;
  ExtensionOutbox outbox;
  Extensions extensions;
};

TEST(ExtensionOutbox, KnowsTheDirectoryThatALookHasMade) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    FollowedFixture fixture(loop, directory);
    const auto in_the_way = fixture.data / "agents/writer";
    std::ofstream(in_the_way) << "no directory";
    const auto made = co_await fixture.extensions.create(
        {{"type", "agent"}, {"name", "writer"}, {"description", "d"}, {"definition", json::object{}}});
    std::filesystem::remove(in_the_way);
    EXPECT_TRUE((co_await fixture.extensions.reseed()).empty());
    EXPECT_TRUE(std::filesystem::exists(fixture.data / "agents/writer/agent.yaml"));
    const auto inode = co_await fixture.database.read(
        [id = made->id](Connection& connection) { return outbox_store::known_inode(connection, id); });
    EXPECT_NE(inode, 0u);
  });
}

TEST(ExtensionOutbox, ALinkToNothingIsNoDirectoryOfADeletedRecord) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    FollowedFixture fixture(loop, directory);
    for (const auto* name : {"writer", "zebra"})
      std::filesystem::create_symlink("nowhere", fixture.data / "agents" / name);
    co_await fixture.extensions.create(
        {{"type", "agent"}, {"name", "writer"}, {"description", "d"}, {"definition", json::object{}}});
    co_await fixture.extensions.reseed();
    EXPECT_THAT(co_await fixture.extensions.reseed(), Not(Contains(HasSubstr("its record was deleted"))));
  });
}

TEST(ExtensionFiles, AreFoundWhileTheirExtensionIsRenamed) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    FollowedFixture fixture(loop, directory);
    ExtensionFiles files(loop, fixture.extensions, fixture.data.parent_path(), fixture.data);
    const auto made = co_await fixture.extensions.create(
        {{"type", "agent"}, {"name", "writer-0"}, {"description", "d"}, {"definition", json::object{}}});
    TaskGroup renaming(loop);
    for (int i = 1; i < 50; ++i) {
      renaming.spawn(rename(fixture.extensions, made->id, "writer-" + std::to_string(i)));
      do {
        EXPECT_EQ(co_await failure(files.config(made->id)), "none");
        EXPECT_EQ((co_await files.list(co_await files.open(made->id))).files.size(), 1u);
      } while (renaming.size() > 0);
    }
    co_await renaming.join();
  });
}

}  // namespace
}  // namespace agw
