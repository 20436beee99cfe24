#include "storage/postgres/record_move.hpp"

#include <future>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "storage/open.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/session.hpp"
#include "storage/postgres/testing.hpp"
#include "testing/scratch_directory.hpp"

namespace agw::postgres {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Server;

constexpr int rows_of_a_table = 130;

/// A valid value for a column in row `number`; the same number gives the same value.
std::string value_of(const CopiedTable& table, const CopiedTable::Column& column, int number) {
  if (column.name == "severity") return "'warning'";
  if (column.name == "titled_by") return "'person'";
  if (table.name == "written_built_ins" && column.name == "only") return "1";
  if (column.type == ValueType::integer) return std::to_string(number + 1);
  if (column.type == ValueType::real) return fmt::format("{}.1", number);
  if (column.name == "newest_turns") return fmt::format("',{}'", number);
  if (column.name == "content" && number % 3 == 0) return fmt::format("'a' || char(0) || 'ü日本 {}'", number);
  if (column.name == "text" && number % 50 == 0) return fmt::format("printf('%.*c', 70000, 'x') || '{}'", number);
  return fmt::format("'{} {}'", column.name, number);
}

std::set<std::string> optional_columns(Connection& file, const std::string& table) {
  std::set<std::string> names;
  auto row = file.prepare("SELECT name FROM pragma_table_info(:table) WHERE \"notnull\" = 0 AND pk = 0");
  row.bind(":table", table);
  while (row.step()) names.insert(row.string(0));
  return names;
}

void fill(Connection& file, const CopiedTable& table) {
  const auto may_be_null = optional_columns(file, table.name);
  file.execute("DELETE FROM \"" + table.name + "\"");
  for (int number = 0; number < (table.name == "written_built_ins" ? 1 : rows_of_a_table); ++number) {
    std::string values;
    for (const auto& column : table.columns) {
      const bool is_null = number % 2 == 1 && may_be_null.contains(column.name);
      values += (values.empty() ? "" : ", ") + (is_null ? "NULL" : value_of(table, column, number));
    }
    file.execute(fmt::format("INSERT INTO \"{}\" VALUES ({})", table.name, values));
  }
}

class RecordMoveTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
    const auto file = open_database(file_, directory_.path() / "backups", embedded_migrations());
    file->execute("BEGIN");
    const auto other = connect();
    RecordCopy copy(*file, *other, {});
    for (const auto& table : copy.tables()) fill(*file, table);
    file->execute("COMMIT");
    tables_ = copy.tables().size();
  }

  std::unique_ptr<Connection> connect() const {
    return std::make_unique<Connection>(
        std::make_unique<Session>(read_address(url_), Session::Clock::now() + 5s, never_));
  }

  /// Moves the records of a node. Fails at the progress call number `killed_at`, which simulates a kill.
  RecordMove move(const std::filesystem::path& file, int killed_at = -1) const {
    return {.url = url_,
            .node = "a",
            .file = file,
            .backups = directory_.path() / "backups",
            .progress =
                [left = killed_at](const std::string&, std::uint64_t done, std::uint64_t total) mutable {
                  EXPECT_LE(done, total);
                  if (left-- == 0) throw std::runtime_error("killed");
                },
            .index = [](Connection&) {}};
  }

  /// All rows of all tables, and the next row numbers.
  std::string records_of(const std::filesystem::path& path) const {
    Connection file(path.string(), Connection::Access::read_only);
    const auto other = connect();
    const RecordCopy copy(file, *other, {});
    std::string all;
    for (const auto& table : copy.tables()) {
      std::string columns;
      for (const auto& column : table.columns)
        columns += fmt::format("{0}typeof(\"{1}\") || hex(\"{1}\")", columns.empty() ? "" : " || ", column.name);
      auto rows = file.prepare(fmt::format("SELECT {} FROM \"{}\" ORDER BY 1", columns, table.name));
      all += table.name;
      while (rows.step()) all += rows.string(0) + "\n";
    }
    return all;
  }

  std::string refusal(const std::function<void()>& action) const {
    try {
      action();
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::failure);
      return error.what();
    }
    return "not refused";
  }

  agw::testing::ScratchDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "gateway.db";
  std::string url_;
  std::size_t tables_ = 0;

private:
  Session::Deadline never_ = Session::Clock::time_point::max();
};

TEST_F(RecordMoveTest, RecordsOfAllRoomsAreTheSameThereAndBack) {
  const auto before = records_of(file_);
  const auto moved = move_to_server(move(file_));
  EXPECT_GT(tables_, 40U);
  EXPECT_GT(moved.rows, (tables_ - 3) * rows_of_a_table);
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_EQ(records_of(moved.file), before);
  const auto back = move_to_file(move(file_));
  EXPECT_EQ(back.rows, moved.rows);
  EXPECT_EQ(records_of(file_), before);
}

TEST_F(RecordMoveTest, TheDirectoriesOfNodesThatShareThemComeBack) {
  const auto before = records_of(file_);
  auto shared = move(file_);
  shared.shares_files = true;
  move_to_server(shared);
  {
    const auto server = connect();
    for (const auto* table : {"extension_directories", "extension_outbox"}) {
      auto rows = server->prepare(fmt::format("SELECT count(*) FROM {} WHERE node = '(shared)'", table));
      ASSERT_TRUE(rows.step());
      EXPECT_EQ(rows.integer(0), rows_of_a_table);
    }
  }
  move_to_file(shared);
  EXPECT_EQ(records_of(file_), before);
}

TEST_F(RecordMoveTest, AMoveThatWasKilledAnywhereGoesOn) {
  const auto before = records_of(file_);
  int killed = 0;
  for (int at = 20;; at += 60, ++killed) {
    try {
      move_to_server(move(file_, at));
      break;
    } catch (const StartError&) {
      throw;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "killed");
    }
  }
  EXPECT_GT(killed, 2);
  for (int at = 20;; at += 60) {
    try {
      move_to_file(move(file_, at));
      break;
    } catch (const StartError&) {
      throw;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "killed");
    }
  }
  EXPECT_EQ(records_of(file_), before);
}

TEST_F(RecordMoveTest, AGatewayRefusesWhatIsNotComplete) {
  EXPECT_THROW(move_to_server(move(file_, 30)), std::runtime_error);
  EXPECT_THAT(refusal([this] { check_reachable(url_); }), HasSubstr("run `agw cluster init` again where"));
  EXPECT_THAT(refusal([this] { move_to_file(move(directory_.path() / "other.db")); }),
              HasSubstr("does not hold all records yet"));
  move_to_server(move(file_));
  EXPECT_EQ(refusal([this] { check_reachable(url_); }), "not refused");
}

TEST_F(RecordMoveTest, NewRowsAreNumberedOn) {
  {
    Connection file(file_.string(), Connection::Access::read_write);
    file.execute("DELETE FROM signals WHERE number > 100");
  }
  move_to_server(move(file_));
  connect()->execute(
      "INSERT INTO signals (id, kind, severity, message, created_at) VALUES ('new', 'k', 'info', 'm', 1)");
  auto row = connect();
  auto number = row->prepare("SELECT number FROM signals WHERE id = 'new'");
  ASSERT_TRUE(number.step());
  EXPECT_EQ(number.integer(0), rows_of_a_table + 1);
  move_to_file(move(file_));
  Connection file(file_.string(), Connection::Access::read_write);
  file.execute("INSERT INTO signals (id, kind, severity, message, created_at) VALUES ('newer', 'k', 'info', 'm', 1)");
  EXPECT_EQ(file.last_insert_rowid(), rows_of_a_table + 2);
}

TEST_F(RecordMoveTest, OnlyAnEmptyDatabaseIsFilled) {
  const auto moved = move_to_server(move(file_));
  std::filesystem::copy(moved.file, directory_.path() / "second.db");
  EXPECT_THAT(refusal([this] { move_to_server(move(directory_.path() / "second.db")); }), HasSubstr("was filled from"));
  connect()->execute("DROP TABLE record_move");
  EXPECT_THAT(refusal([this] { move_to_server(move(directory_.path() / "second.db")); }),
              HasSubstr("holds records of a gateway already"));
  EXPECT_THAT(refusal([this] { move_to_server(move(file_)); }), HasSubstr("there is nothing to move"));
}

TEST_F(RecordMoveTest, AFileThatWasUsedAgainIsNotTakenForTheDatabase) {
  const auto moved = move_to_server(move(file_));
  std::filesystem::rename(moved.file, file_);
  {
    Connection file(file_.string(), Connection::Access::read_write);
    file.execute("DELETE FROM signals WHERE number > 100");
  }
  EXPECT_THAT(refusal([this] { move_to_server(move(file_)); }),
              AllOf(HasSubstr("They were moved before; the newest message in " + file_.string()),
                    HasSubstr("to go on with the database, move the file away")));
  EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(RecordMoveTest, ADatabaseThatAGatewayUsesIsLeftAlone) {
  const auto gateway = connect();
  gateway->prepare("SELECT pg_advisory_lock_shared(7420, hashtext(coalesce(current_schema(), '')))").step();
  EXPECT_THAT(refusal([this] { move_to_server(move(file_)); }), HasSubstr("is used by a gateway"));
  EXPECT_THAT(refusal([this] { move_to_file(move(directory_.path() / "other.db")); }),
              HasSubstr("is used by a gateway"));
}

TEST_F(RecordMoveTest, AGatewayThatIsEndingIsWaitedFor) {
  auto gateway = connect();
  gateway->prepare("SELECT pg_advisory_lock_shared(7420, hashtext(coalesce(current_schema(), '')))").step();
  auto moved = std::async(std::launch::async, [this] { return move_to_server(move(file_)).rows; });
  const auto is_tried = [&] {
    return gateway
        ->prepare(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND "
            "query LIKE 'SELECT pg_try_advisory_lock(%'")
        .step();
  };
  while (moved.wait_for(1ms) == std::future_status::timeout && !is_tried()) {
  }
  gateway.reset();
  EXPECT_GT(moved.get(), 0U);
}

TEST_F(RecordMoveTest, AChangeDuringTheMoveIsNoticed) {
  EXPECT_THROW(move_to_server(move(file_, 30)), std::runtime_error);
  connect()->execute("UPDATE agent_stages SET reason = 'another' WHERE position = 1");
  EXPECT_THAT(refusal([this] { move_to_server(move(file_)); }), HasSubstr("the table agent_stages has 130 rows"));
  EXPECT_TRUE(std::filesystem::exists(file_));
}

}  // namespace
}  // namespace agw::postgres
