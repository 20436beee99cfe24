#include "storage/postgres/address.hpp"

#include <algorithm>
#include <optional>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "storage/postgres/libpq.hpp"

namespace agw::postgres {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AddressTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (!Libpq::get().error.empty()) GTEST_SKIP() << Libpq::get().error;
  }
};

std::optional<std::string> value(const std::string& url, std::string_view name) {
  const auto address = read_address(url);
  for (const auto& [keyword, text] : address.parameters) {
    if (keyword == name) return text;
  }
  return std::nullopt;
}

std::string refusal(const std::string& url) {
  try {
    read_address(url);
    return {};
  } catch (const StartError& error) {
    return error.what();
  }
}

TEST_F(AddressTest, NamesTheDatabaseWithoutThePassword) {
  EXPECT_EQ(read_address("postgresql://agw:word@localhost:5433/things").name, "database things at localhost:5433");
  EXPECT_EQ(value("postgresql://agw:word@localhost:5433/things", "password"), "word");
  EXPECT_EQ(value("postgresql://agw:w%40rd@localhost/things", "password"), "w@rd");
}

TEST_F(AddressTest, RequiresEncryptionOffThisHost) {
  EXPECT_EQ(value("postgresql://agw@db/agw", "sslmode"), "verify-full");
  EXPECT_EQ(value("postgresql://agw@db/agw?sslmode=require", "sslmode"), "require");
  EXPECT_THAT(refusal("postgresql://agw@db/agw?sslmode=prefer"),
              "cluster.database: sslmode=prefer may reach a server on another host unencrypted: use verify-full, "
              "verify-ca or require");
  EXPECT_THAT(refusal("host=127.0.0.1,db dbname=agw sslmode=disable"), HasSubstr("another host"));
  EXPECT_THAT(refusal("host=localhost hostaddr=10.0.0.1 dbname=agw sslmode=allow"), HasSubstr("another host"));
  for (const auto* url : {"postgresql://agw@localhost/agw", "postgresql://agw@127.0.0.1/agw", "postgresql://[::1]/agw",
                          "host=/run/postgresql dbname=agw", "dbname=agw"}) {
    EXPECT_EQ(value(url, "sslmode"), std::nullopt) << url;
  }
}

TEST_F(AddressTest, AMistakeShowsNoPassword) {
  for (const auto* url :
       {"postgresql://agw:p%zzword@db/agw", "postgresql://agw:sec@pword@db/agw", "password=pword x"}) {
    EXPECT_THAT(refusal(url), AllOf(HasSubstr("cluster.database: "), Not(HasSubstr("word@")), Not(HasSubstr("pword"))))
        << url;
  }
}

TEST_F(AddressTest, WithoutAHostItIsTheSocketOfThisOne) {
  EXPECT_EQ(value("dbname=agw", "host"), "/var/run/postgresql");
  EXPECT_EQ(value("hostaddr=127.0.0.1 dbname=agw", "host"), std::nullopt);
}

}  // namespace
}  // namespace agw::postgres
