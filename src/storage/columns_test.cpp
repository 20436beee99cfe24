#include "storage/columns.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

struct Thing {
  std::string name;
  int count = 0;
  std::optional<double> weight;
  std::optional<json::object> extra;
  bool heavy = false;
};

constexpr auto thing_columns = columns_of<Thing>(Column{"name", &Thing::name}, Column{"\"count\"", &Thing::count},
                                                 Column{"weight", &Thing::weight}, Column{"extra", &Thing::extra});

class ColumnsTest : public ::testing::Test {
protected:
  ColumnsTest() {
    std::ofstream(file_).flush();
    connection_.emplace(file_.string(), Connection::Access::read_write);
    connection_->execute("CREATE TABLE things (extra TEXT, weight REAL, \"count\" INTEGER, name TEXT)");
  }

  Thing only() {
    auto row = connection_->prepare("SELECT " + thing_columns.names() + " FROM things");
    EXPECT_TRUE(row.step());
    return thing_columns.read(row);
  }

  testing::ScratchDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "test.db";
  std::optional<Connection> connection_;
};

TEST_F(ColumnsTest, MakesTheListsOfStatements) {
  EXPECT_EQ(thing_columns.names(), R"(name, "count", weight, extra)");
  EXPECT_EQ(thing_columns.assignments(), R"(name = ?, "count" = ?, weight = ?, extra = ?)");
  EXPECT_EQ(thing_columns.insert_into("things"),
            R"(INSERT INTO things (name, "count", weight, extra) VALUES (?, ?, ?, ?))");
}

TEST_F(ColumnsTest, ReadsWhatItHasWritten) {
  auto insert = connection_->prepare(thing_columns.insert_into("things"));
  thing_columns.bind(insert, {.name = "one", .count = 3, .weight = 0.5, .extra = json::object{{"a", 1}}}).run();
  const auto thing = only();
  EXPECT_EQ(thing.name, "one");
  EXPECT_EQ(thing.count, 3);
  EXPECT_EQ(thing.weight, 0.5);
  EXPECT_EQ(thing.extra, json::object({{"a", 1}}));
}

TEST_F(ColumnsTest, KeepsNullApartFromAValue) {
  auto insert = connection_->prepare(thing_columns.insert_into("things"));
  thing_columns.bind(insert, {.name = "one"}).run();
  const auto thing = only();
  EXPECT_EQ(thing.weight, std::nullopt);
  EXPECT_EQ(thing.extra, std::nullopt);
}

TEST_F(ColumnsTest, ReadsAColumnByAFunction) {
  constexpr auto computed = columns_of<Thing>(
      Column{"name", [](auto& thing) -> auto& { return thing.name; }},
      Column{"weight", [](Thing& thing, const Statement& row, int column) { thing.heavy = row.real(column) > 10; }});
  connection_->execute("INSERT INTO things (name, weight) VALUES ('one', 20)");
  auto row = connection_->prepare("SELECT " + computed.names() + " FROM things");
  ASSERT_TRUE(row.step());
  const auto thing = computed.read(row);
  EXPECT_EQ(thing.name, "one");
  EXPECT_TRUE(thing.heavy);
}

}  // namespace
}  // namespace agw
