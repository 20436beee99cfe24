// Loads the Database with coroutines that each insert a turn, await it, and insert the next. The work is that of
// sqlite_floor, for comparison.
//
// database_load <directory> <seconds> <coroutines>
//
// Prints inserts per second and how long callers waited.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/async/task_group.hpp"
#include "base/id.hpp"
#include "storage/database.hpp"

namespace {

using namespace agw;
using Time = std::chrono::steady_clock;

void insert_thread(Connection& connection, const std::string& id) {
  connection
      .prepare(
          "INSERT INTO threads (id, agent_id, title, titled_by, mode, created_at, updated) "
          "VALUES (:id, 'assistant', 'bench', 'person', 'plan', 0, 0)")
      .bind(":id", id)
      .run();
}

void insert_turn(Connection& connection, const std::string& id, const std::string& thread, const std::string& content,
                 std::int64_t time) {
  connection.prepare("UPDATE threads SET turn_count = turn_count + 1, updated = :time WHERE id = :thread")
      .bind(":thread", thread)
      .bind(":time", time)
      .run();
  connection
      .prepare(
          "INSERT INTO turns (id, thread, role, created_at, content) "
          "VALUES (:id, (SELECT number FROM threads WHERE id = :thread), 'user', :time, :content)")
      .bind(":id", id)
      .bind(":thread", thread)
      .bind(":content", content)
      .bind(":time", time)
      .run();
}

Task<> insert_until(Database& database, Time::time_point end, std::vector<Time::duration>& waits) {
  const auto thread = new_id();
  co_await database.write([=](Connection& connection) { insert_thread(connection, thread); });
  for (auto start = Time::now(); start < end;) {
    co_await database.write([id = new_id(), thread, content = std::string(200, 'x'),
                             time = start.time_since_epoch().count()](Connection& connection) {
      insert_turn(connection, id, thread, content, time);
    });
    const auto now = Time::now();
    waits.push_back(now - start);
    start = now;
  }
}

double milliseconds(Time::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: database_load <directory> <seconds> <coroutines>\n");
    return 2;
  }
  Database::Options options;
  options.file = std::filesystem::path(arguments[1]) / "database_load.db";
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(options.file.string() + suffix);

  const std::chrono::duration<double> seconds{std::atof(arguments[2])};
  Loop loop;
  std::vector<Time::duration> waits;
  double biggest_log = 0;
  {
    Database database(loop, options);
    TaskGroup group(loop);
    const auto end = Time::now() + std::chrono::duration_cast<Time::duration>(seconds);
    for (int i = 0; i < std::atoi(arguments[3]); ++i) group.spawn(insert_until(database, end, waits));
    loop.run();
    biggest_log = static_cast<double>(std::filesystem::file_size(options.file.string() + "-wal")) / (1 << 20);
    const auto statistics = database.statistics();
    std::printf("%.0f inserts/s, %.1f to a commit", static_cast<double>(waits.size()) / seconds.count(),
                static_cast<double>(statistics.writes) / static_cast<double>(statistics.commits));
  }
  std::filesystem::remove(options.file);
  std::ranges::sort(waits);
  const auto at = [&](double share) {
    return milliseconds(waits[static_cast<std::size_t>(share * static_cast<double>(waits.size() - 1))]);
  };
  std::printf(", waits p50 %.2f ms, p99 %.2f, p99.9 %.2f, most %.1f, log %.0f MB\n", at(0.5), at(0.99), at(0.999),
              at(1), biggest_log);
}
