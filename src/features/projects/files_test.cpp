#include "features/projects/files.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "features/projects/service.hpp"
#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct ProjectFilesFixture {
  explicit ProjectFilesFixture(Loop& loop)
      : database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        blocking(loop),
        filesystem(blocking, directory.path()),
        projects(database, filesystem, clock, directory.path() / "data"),
        files(projects, filesystem, directory.path() / "data") {
    fs::create_directories(root / "src");
    std::ofstream(root / "a.md") << "aé€";
    std::ofstream(root / "server.pem") << "secret";
    projects.load(database.start_connection());
  }

  Task<std::string> create() { co_return (co_await projects.create({.name = "Atlas", .path = root.string()}))->id; }

  Task<std::string> error_of_reading(std::string id, std::string path) {
    try {
      co_await files.read_json(std::move(id), {.path = std::move(path)});
    } catch (const ApiError& error) {
      co_return error.error();
    }
    co_return "";
  }

  testing::ScratchDirectory directory;
  fs::path root = directory.path() / "atlas";
  SystemClock clock;
  Database database;
  BlockingPool blocking;
  Filesystem filesystem;
  Projects projects;
  ProjectFiles files;
};

TEST(ProjectFilesTest, ListsADirectoryWithDirectoriesFirst) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectFilesFixture fixture(loop);
    EXPECT_EQ(
        co_await fixture.files.list_json(co_await fixture.create(), {}),
        R"({"path":"","entries":[{"name":"src","type":"directory"},{"name":"a.md","type":"file"}],"complete":true})");
  });
}

TEST(ProjectFilesTest, ALimitKeepsTheFirstEntries) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectFilesFixture fixture(loop);
    EXPECT_EQ(co_await fixture.files.list_json(co_await fixture.create(), {.limit = 1}),
              R"({"path":"","entries":[{"name":"src","type":"directory"}],"complete":false})");
  });
}

TEST(ProjectFilesTest, RangesBeginAndEndBetweenCharacters) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectFilesFixture fixture(loop);
    const auto id = co_await fixture.create();
    EXPECT_THAT(co_await fixture.files.read_json(id, {.path = "a.md", .length = 2}),
                HasSubstr(R"("offset":0,"content":"aé","next":3)"));
    EXPECT_THAT(co_await fixture.files.read_json(id, {.path = "a.md", .offset = 2}),
                HasSubstr(R"("offset":3,"content":"€","next":null)"));
  });
}

TEST(ProjectFilesTest, ShowsNothingPrivateAndNothingOutside) {
  testing::run([](Loop& loop) -> Task<> {
    ProjectFilesFixture fixture(loop);
    const auto id = co_await fixture.create();
    fs::create_symlink("server.pem", fixture.root / "notes.md");
    EXPECT_EQ(co_await fixture.error_of_reading(id, "server.pem"), "file not found");
    EXPECT_EQ(co_await fixture.error_of_reading(id, "notes.md"), "file not found");
    EXPECT_EQ(co_await fixture.error_of_reading(id, "../gateway.db"), "path traversal not allowed");
    EXPECT_EQ(co_await fixture.error_of_reading("none", "a.md"), "project not found");
  });
}

}  // namespace
}  // namespace agw
