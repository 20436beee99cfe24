#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/error.hpp"
#include "tools/files/testing.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using testing::read_file;
using ::testing::StartsWith;

/// Calls `record` instead of storing anything.
class FakeRecorder : public FileRecorder {
public:
  std::function<Task<>(PlannedWrite)> record;
  int results = 0;
  long owners_of_former = 0;

  std::size_t max_file_size() const override { return 1 << 20; }
  Task<> before_write(const ToolRun&, PlannedWrite write) override { return record(std::move(write)); }
  Task<> after_write(std::shared_ptr<const EntryState>, std::shared_ptr<const void> former) override {
    ++results;
    owners_of_former = former.use_count();
    co_return;
  }
  Task<std::shared_ptr<CommandListing>> before_command(const ToolRun&, std::vector<fs::path>) override {
    co_return nullptr;
  }
  Task<> after_command(const ToolRun&, std::shared_ptr<CommandListing>) override { co_return; }
  Task<> record_uncovered(const ToolRun&, std::string, std::string) override { co_return; }
  Task<> record_hosts(const ToolRun&, std::vector<ContactedHost>) override { co_return; }
};

class RecordedWrite : public ::testing::Test {
protected:
  RecordedWrite() { fixture_.recorder = &recorder_; }

  std::string write(const std::string& content) {
    return fixture_.call("Write", {{"path", "main.c"}, {"content", content}});
  }
  std::string content() const { return read_file(fixture_.project / "main.c"); }
  auto entries() const { return std::distance(fs::directory_iterator(fixture_.project), {}); }

  testing::ToolsFixture fixture_;
  FakeRecorder recorder_;
};

TEST_F(RecordedWrite, TheFileIsReplacedOnceTheChangeIsRecorded) {
  const auto before = content();
  std::string meanwhile;
  recorder_.record = [&](PlannedWrite) -> Task<> {
    meanwhile = content();
    co_return;
  };
  EXPECT_THAT(write("new"), StartsWith("replaced"));
  EXPECT_EQ(meanwhile, before);
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(recorder_.results, 1);
  EXPECT_EQ(recorder_.owners_of_former, 1) << "the recorder decides which thread frees its blocks";
}

TEST_F(RecordedWrite, TheFileIsReplacedBeforeTheLoopHearsOfTheRecord) {
  recorder_.record = [&](PlannedWrite planned) -> Task<> {
    planned.on_recorded();
    const auto executor = co_await asio::this_coro::executor;
    while (content() != "new") co_await asio::post(executor, asio::use_awaitable);
  };
  EXPECT_THAT(write("new"), StartsWith("replaced"));
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(recorder_.results, 1);
}

TEST_F(RecordedWrite, AChangeThatCannotBeRecordedIsNotMade) {
  const auto before = content();
  recorder_.record = [&](PlannedWrite) -> Task<> {
    throw InsufficientStorage("disk full");
    co_return;
  };
  EXPECT_THAT(write("new"), HasSubstr("disk full"));
  EXPECT_EQ(content(), before);
  EXPECT_EQ(entries(), 1) << "the new content is removed";
  EXPECT_EQ(recorder_.results, 0);
}

}  // namespace
}  // namespace agw
