#include "storage/postgres/schema.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/session.hpp"
#include "storage/postgres/testing.hpp"

namespace agw::postgres {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Server;

class SchemaTest : public ::testing::Test {
protected:
  void SetUp() override { SKIP_WITHOUT_POSTGRES(); }

  std::unique_ptr<Connection> connect(const std::string& url) const {
    return std::make_unique<Connection>(
        std::make_unique<Session>(read_address(url), Session::Clock::now() + 1min, never_));
  }

  /// The status and the message of the refusal, or an empty one.
  std::pair<ExitStatus, std::string> refusal(const std::string& url,
                                             const std::vector<Migration>& migrations = testing::rows_table()) const {
    try {
      prepare_database(*connect(url), read_address(url), migrations);
      return {};
    } catch (const StartError& error) {
      return {error.status(), error.what()};
    } catch (const DatabaseError& error) {
      return {ExitStatus::failure, error.what()};
    }
  }

private:
  Session::Deadline never_ = Session::Clock::time_point::max();
};

TEST_F(SchemaTest, ADatabaseGetsTheTablesOnce) {
  const auto url = Server::shared().create_database();
  EXPECT_EQ(refusal(url).second, "");
  connect(url)->execute("INSERT INTO rows VALUES (1, 'kept')");
  EXPECT_EQ(refusal(url).second, "");
  auto migrations = testing::rows_table();
  migrations.push_back({7, "0007_more.sql", "ALTER TABLE rows ADD COLUMN more text; CREATE TABLE other (x bigint)"});
  EXPECT_EQ(refusal(url, migrations).second, "");
  const auto connection = connect(url);
  auto row = connection->prepare("SELECT text, more FROM rows, (SELECT count(*) FROM other) AS o");
  EXPECT_TRUE(row.step());
}

TEST_F(SchemaTest, AMigrationThatFailsLeavesNothing) {
  const auto url = Server::shared().create_database();
  auto migrations = testing::rows_table();
  migrations.push_back({2, "0002_wrong.sql", "ALTER TABLE nothing ADD COLUMN x text"});
  EXPECT_THAT(refusal(url, migrations).second, HasSubstr("nothing"));
  EXPECT_EQ(refusal(url).second, "");
}

TEST_F(SchemaTest, RefusesADatabaseOfANewerGateway) {
  const auto url = Server::shared().create_database();
  auto migrations = testing::rows_table();
  migrations.push_back({2, "0002_more.sql", "SELECT 1"});
  EXPECT_EQ(refusal(url, migrations).second, "");
  const auto [status, text] = refusal(url);
  EXPECT_EQ(status, ExitStatus::failure);
  EXPECT_THAT(text, HasSubstr("was written by a newer agw (schema 2, this one knows 1): install that one"));
}

TEST_F(SchemaTest, RefusesTablesOfAnotherProgram) {
  const auto url = Server::shared().create_database();
  connect(url)->execute("CREATE TABLE theirs (x bigint)");
  EXPECT_EQ(refusal(url).first, ExitStatus::failure);
  EXPECT_THAT(refusal(url).second, HasSubstr("is not a gateway's: it holds tables of another program"));
}

TEST_F(SchemaTest, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(refusal(Server::shared().create_database("ENCODING 'LATIN1' LOCALE 'C'")).second,
              AllOf(HasSubstr("does not store text as UTF-8"), HasSubstr("CREATE DATABASE agw")));
}

TEST_F(SchemaTest, RefusesAnotherOrderOfTexts) {
  EXPECT_THAT(
      refusal(Server::shared().create_database("ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'"))
          .second,
      HasSubstr("does not compare text byte by byte"));
}

TEST_F(SchemaTest, RefusesADatabaseThatIsReadOnly) {
  const auto url = Server::shared().create_database();
  connect(url)->execute(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', "
      "current_database()); END $$");
  EXPECT_THAT(refusal(url).second, HasSubstr("is read-only"));
}

TEST_F(SchemaTest, RefusesARoleThatMayNotCreateTables) {
  const auto url = Server::shared().create_database();
  connect(url)->execute("CREATE ROLE guest LOGIN");
  auto guest = url;
  guest.replace(guest.find("user=agw"), 8, "user=guest");
  EXPECT_THAT(refusal(guest).second, HasSubstr("does not let the role guest create tables. Allow it: GRANT CREATE ON "
                                               "SCHEMA public TO guest"));
  connect(url)->execute("DROP ROLE guest");
}

TEST_F(SchemaTest, AServerThatIsNotThereIsNamedSoon) {
  Loop loop;
  const auto began = Session::Clock::now();
  try {
    open_engine(loop, {.url = "postgresql://agw:word@127.0.0.1:1/things", .migrations = {}});
    FAIL();
  } catch (const StartError& error) {
    EXPECT_EQ(error.status(), ExitStatus::failure);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot reach the database things at 127.0.0.1:1 (cluster.database)"),
                                    Not(HasSubstr("word@")), HasSubstr("Start the server")));
  }
  EXPECT_LT(Session::Clock::now() - began, 30s);
}

TEST_F(SchemaTest, ADatabaseThatIsNotThereIsNamed) {
  Loop loop;
  try {
    open_engine(loop, {.url = Server::shared().url("missing"), .migrations = {}});
    FAIL();
  } catch (const StartError& error) {
    EXPECT_THAT(error.what(), HasSubstr("database \"missing\" does not exist"));
  }
}

}  // namespace
}  // namespace agw::postgres
