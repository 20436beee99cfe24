#include "storage/migration.hpp"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "storage/testing.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::vector<Migration> three = {
    {1, "0001_rows.sql", "CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT);"},
    {2, "0002_kind.sql", "ALTER TABLE rows ADD COLUMN kind TEXT; CREATE INDEX rows_kind ON rows (kind);"},
    {4, "0004_more.sql", "CREATE TABLE more (id TEXT UNIQUE);"},
};

class MigrationTest : public ::testing::Test {
protected:
  MigrationTest() { options_ = testing::TestDatabase::options(directory_); }

  /// Starts a gateway with `migrations` and stops it again.
  void start(std::vector<Migration> migrations, const std::function<void(Connection&)>& use = nullptr) {
    options_.migrations = std::move(migrations);
    Database database(loop_, options_);
    if (use) use(database.start_connection());
  }

  /// The message of the refused start.
  std::string refusal(ExitStatus expected, std::vector<Migration> migrations = three) {
    try {
      start(std::move(migrations));
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), expected);
      EXPECT_THAT(error.what(), HasSubstr(options_.file.string()));
      return error.what();
    }
    ADD_FAILURE() << "it started";
    return {};
  }

  std::vector<std::string> schema(const fs::path& file) {
    Connection connection(file.string(), Connection::Access::read_only);
    std::vector<std::string> schema{std::to_string(schema_version(connection))};
    auto row = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name");
    while (row.step()) schema.push_back(row.string(0) + ": " + row.string(1));
    return schema;
  }

  /// Every file of the data directory with its bytes.
  std::map<std::string, std::string> content() {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::directory_iterator(directory_.path())) {
      std::ifstream stream(entry.path(), std::ios::binary);
      content[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(stream), {});
    }
    return content;
  }

  void write_file(const fs::path& path, std::string_view bytes, std::streamoff at = 0) {
    if (!fs::exists(path)) std::ofstream(path).flush();
    std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(at);
    stream << bytes;
  }

  std::vector<fs::path> backups() {
    std::vector<fs::path> files;
    if (!fs::exists(options_.backups)) return files;
    for (const auto& entry : fs::directory_iterator(options_.backups)) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  }

  Loop loop_;
  testing::ScratchDirectory directory_;
  Database::Options options_;
};

std::vector<Migration> first(std::vector<Migration> migrations, std::size_t count) {
  migrations.resize(count);
  return migrations;
}

TEST_F(MigrationTest, AnEmptyFileAndTheOldestOneEndWithTheSameSchema) {
  for (const auto& migrations : {three, embedded_migrations()}) {
    fs::remove(options_.file);
    start(migrations);
    const auto fresh = schema(options_.file);
    for (std::size_t had = 1; had < migrations.size(); ++had) {
      fs::remove(options_.file);
      start(first(migrations, had));
      start(migrations);
      EXPECT_EQ(schema(options_.file), fresh) << "with the first " << had;
    }
  }
}

TEST_F(MigrationTest, KeepsTheLatestThreeCopiesFromBeforeMigrations) {
  auto growing = first(three, 1);
  start(growing, [](Connection& connection) { testing::insert(connection, 7, "kept"); });
  EXPECT_THAT(backups(), SizeIs(0)) << "an empty file is not worth a copy";
  for (int number = 2; number <= 6; ++number) {
    growing.push_back({number, "next.sql", "INSERT INTO rows (text) VALUES ('migrated')"});
    start(growing);
  }
  const auto copies = backups();
  ASSERT_THAT(copies, SizeIs(3));
  EXPECT_THAT(copies.back().filename().string(), HasSubstr("schema-0005.db"));
  EXPECT_THAT(testing::numbers_on_disk(copies.front()), ElementsAre(7, 8, 9)) << "what was there before the fourth";
  EXPECT_EQ(fs::status(copies.back()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(options_.backups).permissions(), fs::perms::owner_all);
}

TEST_F(MigrationTest, RemovesTheCopyThatAKilledMigrationLeft) {
  start(first(three, 1));
  fs::create_directory(options_.backups);
  write_file(options_.backups / "gateway-20260102T030405.678Z-schema-0001.db.unfinished", "half");
  start(three);
  ASSERT_THAT(backups(), SizeIs(1));
  EXPECT_EQ(backups().front().extension(), ".db");
}

TEST_F(MigrationTest, AFailedMigrationLeavesTheFileAsItWas) {
  start(first(three, 1), [](Connection& connection) { testing::insert(connection, 7); });
  const auto before = schema(options_.file);
  const std::vector<Migration> broken = {three[0], three[1], {3, "0003_broken.sql", "CREATE TABLE"}};
  EXPECT_THAT(refusal(ExitStatus::failure, broken), HasSubstr("0003_broken.sql"));
  EXPECT_EQ(schema(options_.file), before);
  start(three);
}

TEST_F(MigrationTest, WithoutACopyThereIsNoMigration) {
  start(first(three, 1));
  write_file(options_.backups, "a file where the directory should be");
  refusal(ExitStatus::failure);
  fs::remove(options_.backups);
  EXPECT_EQ(schema(options_.file).front(), "1");
}

TEST_F(MigrationTest, ANewerFileIsRefusedAndUntouched) {
  start(three);
  const auto before = content();
  EXPECT_THAT(refusal(ExitStatus::database_unusable, first(three, 2)), HasSubstr("newer agw"));
  EXPECT_EQ(content(), before);
}

TEST_F(MigrationTest, ADowngradeLeadsBackToTheCopyFromBeforeTheUpgrade) {
  start(first(three, 2), [](Connection& connection) { testing::insert(connection, 7, "kept"); });
  start(three, [](Connection& connection) { testing::insert(connection, 8, "lost"); });
  const auto copy = backups().front();
  EXPECT_THAT(refusal(ExitStatus::database_unusable, first(three, 2)),
              HasSubstr(fmt::format("copy {} to {}", copy.string(), options_.file.string())));
  EXPECT_THAT(refusal(ExitStatus::database_unusable, first(three, 1)), HasSubstr("agw restore"));
  fs::copy_file(copy, options_.file, fs::copy_options::overwrite_existing);
  start(first(three, 2));
  EXPECT_THAT(testing::numbers_on_disk(options_.file), ElementsAre(7));
}

TEST_F(MigrationTest, WhatIsNotADatabaseIsRefusedAndUntouched) {
  for (const std::string& text : {std::string("x"), std::string(100'000, 'x')}) {
    write_file(options_.file, text);
    const auto before = content();
    EXPECT_THAT(refusal(ExitStatus::database_unusable), HasSubstr("not a SQLite database"));
    EXPECT_EQ(content(), before);
  }
}

TEST_F(MigrationTest, ADatabaseOfAnotherProgramIsRefusedAndUntouched) {
  write_file(options_.file, "");
  Connection(options_.file.string(), Connection::Access::read_write).execute("CREATE TABLE theirs (id)");
  const auto before = content();
  EXPECT_THAT(refusal(ExitStatus::database_unusable), HasSubstr("another program"));
  EXPECT_EQ(content(), before);
}

class DamagedFileTest : public MigrationTest {
protected:
  DamagedFileTest() {
    start(three, [](Connection& connection) { testing::insert(connection, 1, std::string(100'000, 'x')); });
  }

  /// Damages a page. The first page keeps the file's header, which has its own test.
  void expect_refusal_of_broken_page(const std::string& intact, std::size_t page) {
    const std::size_t spared = page == 0 ? 100 : 0;
    write_file(options_.file, std::string(4096 - spared, '\xee'), static_cast<std::streamoff>(page * 4096 + spared));
    const auto before = content();
    EXPECT_THAT(refusal(ExitStatus::database_unusable), HasSubstr("is damaged")) << "page " << page;
    EXPECT_EQ(content(), before) << "page " << page;
    write_file(options_.file, intact);
  }
};

TEST_F(DamagedFileTest, WithoutItsEndIsRefusedAndUntouched) {
  fs::resize_file(options_.file, fs::file_size(options_.file) / 2);
  const auto before = content();
  EXPECT_THAT(refusal(ExitStatus::database_unusable), HasSubstr("its end is missing"));
  EXPECT_EQ(content(), before);
}

TEST_F(DamagedFileTest, WithAnyBrokenPageIsRefusedAndUntouched) {
  const auto intact = content()["gateway.db"];
  for (std::size_t page = 0; page < intact.size() / 4096; ++page) expect_refusal_of_broken_page(intact, page);
}

TEST_F(DamagedFileTest, AlsoALargeOne) {
  start(three, [](Connection& connection) { testing::insert(connection, 2, std::string(3'000'000, 'x')); });
  const auto intact = content()["gateway.db"];
  constexpr std::size_t where_rows_begin = 1;
  expect_refusal_of_broken_page(intact, where_rows_begin);
}

TEST_F(DamagedFileTest, ItsLogIsLeftToo) {
  {
    Database database(loop_, options_);
    testing::insert(database.start_connection(), 2);
    fs::copy(options_.file.string() + "-wal", directory_.path() / "log");
  }
  fs::rename(directory_.path() / "log", options_.file.string() + "-wal");
  write_file(options_.file, std::string(100, '\0'));
  const auto before = content();
  refusal(ExitStatus::database_unusable);
  EXPECT_EQ(content(), before);

  fs::resize_file(options_.file, 0);
  EXPECT_THAT(refusal(ExitStatus::database_unusable), HasSubstr("gateway.db-wal is not"));
  EXPECT_EQ(fs::file_size(options_.file.string() + "-wal"), before.at("gateway.db-wal").size());
}

TEST_F(DamagedFileTest, WhatIsMarkedReadOnlyIsNotWritten) {
  chmod(options_.file.c_str(), 0400);
  EXPECT_THAT(refusal(ExitStatus::failure), HasSubstr("chmod u+rw"));
  chmod(options_.file.c_str(), 0600);
  chmod(directory_.path().c_str(), 0500);
  EXPECT_THAT(refusal(ExitStatus::failure), HasSubstr("chmod u+rw"));
  chmod(directory_.path().c_str(), 0700);
  fs::remove_all(options_.file);
  fs::create_directory(options_.file);
  refusal(ExitStatus::failure);
}

TEST(Migration, EmbeddedOnesHaveNumbersInOrder) {
  const auto migrations = embedded_migrations();
  for (std::size_t i = 1; i < migrations.size(); ++i) EXPECT_LT(migrations[i - 1].number, migrations[i].number);
}

}  // namespace
}  // namespace agw
