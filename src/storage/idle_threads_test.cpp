#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "storage/reader_pool.hpp"
#include "storage/testing.hpp"
#include "storage/write_queue.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

class CountedItem final : public WorkItem {
public:
  CountedItem(Loop& loop, int& completed) : WorkItem(loop, [](Connection&) {}), completed_(completed) {}
  void complete() override { ++completed_; }

private:
  int& completed_;
};

TEST(IdleThreads, AnIdleReaderReleasesItsMemoryAndReadsOn) {
  Loop loop;
  std::atomic<int> reads = 0;
  std::promise<void> idle;
  std::atomic<int> releases = 0;
  int completed = 0;
  ReaderPool readers(
      loop,
      [&] {
        return ItemReader{.read = [&](WorkItem&) { ++reads; },
                          .release_memory =
                              [&] {
                                if (++releases == 1) idle.set_value();
                              }};
      },
      1);
  readers.add(std::make_unique<CountedItem>(loop, completed));
  idle.get_future().wait();
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(releases, 1);
  readers.add(std::make_unique<CountedItem>(loop, completed));
  loop.run();
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(completed, 2);
}

TEST(IdleThreads, AnIdleWriterIsNotifiedAndThenGetsTheNextItem) {
  Loop loop;
  const auto queue = std::make_shared<WriteQueue>(loop);
  std::promise<void> idle;
  int completed = 0;
  auto taken = std::async(std::launch::async, [&] { return queue->take(64, [&] { idle.set_value(); }); });
  idle.get_future().wait();
  queue->add(std::make_unique<CountedItem>(loop, completed), Database::Lane::request);
  loop.poll();
  EXPECT_EQ(taken.get().size(), 1U);
}

/// Waits until a thread that starts now has been idle for so long that it releases its memory.
void wait_until_idle(Loop& loop) {
  std::promise<void> idle;
  int completed = 0;
  ReaderPool readers(
      loop, [&] { return ItemReader{.read = [](WorkItem&) {}, .release_memory = [&] { idle.set_value(); }}; }, 1);
  readers.add(std::make_unique<CountedItem>(loop, completed));
  idle.get_future().wait();
  readers.close(std::chrono::steady_clock::now());
  loop.poll();
}

// SQLite's connections are not synchronized: only one thread may use one at a time.
TEST(IdleThreads, AnIdleWriterDoesNotTouchTheConnectionOfTheStart) {
  Loop loop;
  testing::TestDatabase database(loop);
  testing::insert(database->start_connection(), 1, std::string(100'000, 'x'));
  const auto before = testing::cached_bytes(database->start_connection());
  EXPECT_GT(before, 100'000);
  wait_until_idle(loop);
  EXPECT_EQ(testing::cached_bytes(database->start_connection()), before);
}

TEST(IdleThreads, AnIdleWriterReleasesItsMemory) {
  testing::run([](Loop& loop) -> Task<> {
    testing::TestDatabase database(loop);
    co_await database->write([](Connection& connection) { testing::insert(connection, 1, std::string(100'000, 'x')); });
    int cached = 0;
    do {  // it may have become idle a moment later than the thread that is waited for
      wait_until_idle(loop);
      cached = co_await database->write([](Connection& connection) { return testing::cached_bytes(connection); });
    } while (cached > 50'000);
  });
}

}  // namespace
}  // namespace agw
