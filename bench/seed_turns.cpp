// Fills a data directory, which must not be in use, with threads and turns and indexes them: a large database within a
// minute. The words have the frequencies of a language.
//
// seed_turns <directory> <threads> <turns> [agents]
//
// The threads belong to `assistant`, or in turn to `agent-0`, `agent-1`, … Prints how long it took.
#include <chrono>
#include <cstdlib>

#include "bench/threads_program.hpp"
#include "bench/words.hpp"

namespace {

using namespace agw;
using Time = std::chrono::steady_clock;

constexpr int words_a_turn = 40;
constexpr int turns_a_write = 1000;

struct Wanted {
  int threads;
  int turns;
  int agents;
};

Task<> seed(Threads& threads, Database& database, Wanted wanted) {
  const auto start = Time::now();
  std::vector<std::string> ids;
  for (int i = 0; i < wanted.threads; ++i) {
    NewThread fresh;
    if (wanted.agents > 0) fresh.agent_id = "agent-" + std::to_string(i % wanted.agents);
    ids.push_back((co_await threads.create(fresh)).id);
  }
  bench::Words words(1);
  for (int inserted = 0; inserted < wanted.turns;) {
    std::vector<PreparedTurn> turns;
    for (; static_cast<int>(turns.size()) < turns_a_write && inserted < wanted.turns; ++inserted) {
      const auto& thread = ids[static_cast<std::size_t>(words.number(0, wanted.threads - 1))];
      const auto role = inserted % 2 ? Role::assistant : Role::user;
      turns.push_back(threads.prepare({.thread_id = thread, .role = role, .content = words.text(words_a_turn)}));
    }
    co_await database.write([&turns](Connection& connection) {
      for (const auto& turn : turns) Threads::insert_in(connection, turn);
    });
  }
  const std::chrono::duration<double> written = Time::now() - start;
  co_await threads.index_all();
  const std::chrono::duration<double> indexed = Time::now() - start - written;
  std::printf("written in %.1f s, indexed in %.1f s\n", written.count(), indexed.count());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: seed_turns <directory> <threads> <turns> [agents]\n");
    return 2;
  }
  const Wanted wanted{std::atoi(arguments[2]), std::atoi(arguments[3]), count > 4 ? std::atoi(arguments[4]) : 0};
  return bench::with_threads(arguments[1],
                             [&](Threads& threads, Database& database) { return seed(threads, database, wanted); });
}
