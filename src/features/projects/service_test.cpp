#include "features/projects/service.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "api/error.hpp"
#include "features/projects/store.hpp"
#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

struct ProjectsFixture {
  explicit ProjectsFixture(Loop& loop)
      : database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        blocking(loop),
        filesystem(blocking, directory.path() / "home"),
        projects(database, filesystem, clock, directory.path() / "home/data") {
    fs::create_directories(directory.path() / "home/data/inner");
    fs::create_directories(directory.path() / "home/data-of-mine");
    projects.load(database.start_connection());
  }

  Task<ProjectPointer> create(const std::string& path) {
    return projects.create({.name = "Atlas", .path = (directory.path() / path).string()});
  }

  Task<int> status_of_creating(std::string path) {
    try {
      co_await create(path);
    } catch (const ApiError& error) {
      co_return error.status();
    }
    co_return 201;
  }

  testing::ScratchDirectory directory;
  SystemClock clock;
  Database database;
  BlockingPool blocking;
  Filesystem filesystem;
  Projects projects;
};

TEST(ProjectsTest, AProjectLiesInHomeAndAwayFromTheGatewaysOwnFiles) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectsFixture fixture(loop);
    EXPECT_EQ(co_await fixture.status_of_creating("home/data-of-mine"), 201);
    for (const char* path : {"", "home", "home/data", "home/data/inner", "home/data/nothing", "home/data/../data"}) {
      EXPECT_EQ(co_await fixture.status_of_creating(path), 403) << path;
    }
    EXPECT_EQ(co_await fixture.status_of_creating("home/nothing"), 404);
  });
}

TEST(ProjectsTest, MemoryFollowsWhatIsWritten) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectsFixture fixture(loop);
    const auto made = co_await fixture.create("home/data-of-mine");
    const auto changed = co_await fixture.projects.change(made->id, {.trusted = true});
    EXPECT_TRUE(changed->trusted);
    EXPECT_EQ(fixture.projects.find(made->id), changed);
    EXPECT_FALSE(made->trusted);
    co_await fixture.projects.remove(made->id);
    EXPECT_EQ(fixture.projects.find(made->id), nullptr);
    EXPECT_TRUE(fixture.projects.list().empty());
  });
}

TEST(ProjectsTest, AProjectWhoseTrustCannotBeStoredIsNotCreated) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectsFixture fixture(loop);
    co_await fixture.database.write([](Connection& connection) {
      connection
          .prepare("CREATE TRIGGER full BEFORE INSERT ON project_trust BEGIN SELECT raise(ABORT, 'disk is full'); END")
          .run();
    });
    const auto path = (fixture.directory.path() / "home/data-of-mine").string();
    EXPECT_THROW(co_await fixture.projects.create({.name = "Atlas", .path = path, .trusted = true}), DatabaseError);
    EXPECT_TRUE((co_await fixture.database.read(project_store::all)).empty());
    const auto made = co_await fixture.create("home/data-of-mine");
    EXPECT_THROW(co_await fixture.projects.change(made->id, {.trusted = true}), DatabaseError);
    EXPECT_FALSE((co_await fixture.database.read(project_store::all)).at(0).trusted);
  });
}

TEST(ProjectsTest, AProjectWithAFileNameThatCannotBeStoredIsNotTrusted) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectsFixture fixture(loop);
    const auto made = co_await fixture.create("home/data-of-mine");
    fs::create_directories(fixture.directory.path() / "home/data-of-mine/.agents/caf\xe9");
    std::ofstream(fixture.directory.path() / "home/data-of-mine/.agents/caf\xe9/a.md") << "a";
    std::string error;
    try {
      co_await fixture.projects.change(made->id, {.trusted = true});
    } catch (const BadRequest& refusal) {
      error = refusal.error();
    }
    EXPECT_EQ(error, "project cannot be trusted: .agents/caf\uFFFD/a.md has a name that is not UTF-8");
    EXPECT_FALSE((co_await fixture.projects.verified(made->id))->trusted);
  });
}

}  // namespace
}  // namespace agw
