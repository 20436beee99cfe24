#include "storage/announced_write.hpp"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>

#include "base/containers.hpp"
#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using testing::Gate;
using testing::insert;
using testing::numbers_on_disk;
using testing::TestDatabase;
using testing::until;

/// The writes that were announced, and whether another program could read them by then.
struct Announced {
  std::vector<std::int64_t> numbers;
  std::vector<bool> were_on_disk;
};

Task<> add(TestDatabase& database, std::int64_t number, Announced& announced, std::vector<std::int64_t>& done) {
  const AnnouncedWrite write{.work = [number](Connection& connection) { insert(connection, number); },
                             .committed =
                                 [number, file = database.file(), &announced] {
                                   announced.numbers.push_back(number);
                                   announced.were_on_disk.push_back(contains(numbers_on_disk(file), number));
                                 }};
  try {
    co_await database->write(write);
    done.push_back(number);
    EXPECT_TRUE(contains(announced.numbers, number));
  } catch (const DatabaseError&) {
    done.push_back(-number);
  }
}

/// Writes all rows as one group.
Announced announced_of(std::vector<std::int64_t> numbers, std::vector<std::int64_t>& done) {
  Announced announced;
  testing::run([&](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    for (const auto number : numbers) group.spawn(add(database, number, announced, done));
    co_await until([&] { return database->statistics().queued == numbers.size(); });
    gate.open();
    co_await group.join();
  });
  return announced;
}

TEST(AnnouncedWriteTest, IsAnnouncedBeforeItsCallerResumes) {
  std::vector<std::int64_t> done;
  const auto announced = announced_of({1, 2}, done);
  EXPECT_THAT(done, ElementsAre(1, 2));
  EXPECT_THAT(announced.numbers, ElementsAre(1, 2));
  EXPECT_THAT(announced.were_on_disk, ElementsAre(true, true));
}

TEST(AnnouncedWriteTest, IsAnnouncedOnceAlthoughItRunsAgainAndNotIfItFails) {
  std::vector<std::int64_t> done;
  const auto announced = announced_of({1, 2, 2, 3}, done);
  EXPECT_THAT(done, ElementsAre(1, 2, -2, 3));
  EXPECT_THAT(announced.numbers, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace agw
