#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "storage/reader_pool.hpp"
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

}  // namespace
}  // namespace agw
