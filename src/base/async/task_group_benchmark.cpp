#include "base/async/task_group.hpp"

#include <benchmark/benchmark.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "testing/run.hpp"

namespace agw {
namespace {

Task<> nothing() { co_return; }

void spawn_and_join(benchmark::State& state) {
  testing::run([&](Loop& loop) -> Task<> {
    for (auto _ : state) {
      TaskGroup group(loop);
      group.spawn(nothing());
      co_await group.join();
    }
  });
}
BENCHMARK(spawn_and_join)->Name("TaskGroup.SpawnAndJoin");

void spawn_detached(benchmark::State& state) {
  Loop loop;
  for (auto _ : state) {
    asio::co_spawn(loop, nothing(), asio::detached);
    loop.run();
    loop.restart();
  }
}
BENCHMARK(spawn_detached)->Name("TaskGroup.SpawnAndJoin/floor");

}  // namespace
}  // namespace agw
