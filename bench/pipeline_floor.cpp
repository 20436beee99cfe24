// The limit of this server: turns inserted by a bare loop of libpq in pipeline mode, in transactions of a given size.
// They are as isolated and durable as the gateway's, and use tables that a gateway has created.
//
// pipeline_floor <url> <seconds> <group>
//
// Prints inserts per second.
#include <libpq-fe.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/floor_rows.hpp"

namespace {

class Floor {
public:
  explicit Floor(const char* url) : connection_(PQconnectdb(url)) {
    if (PQstatus(connection_) != CONNECTION_OK) fail();
    prepare("turn",
            "WITH added AS (INSERT INTO turns (id, thread, role, created_at, content) VALUES ($1, $2, 'user', $3, $4) "
            "RETURNING number) UPDATE threads SET turn_count = turn_count + 1, updated = $3, newest_turns = "
            "newest_turns || ',' || added.number FROM added WHERE threads.number = $2");
    prepare("enter",
            "INSERT INTO turn_order (thread, turn) SELECT number, CAST(value AS bigint) FROM threads, "
            "unnest(string_to_array(substr(newest_turns, 2), ',')) AS newest (value) WHERE number = $1");
    prepare("entered", "UPDATE threads SET newest_turns = '' WHERE number = $1");
    for (int i = 0; i < thread_count; ++i) threads_.push_back(new_thread(i));
    if (!PQenterPipelineMode(connection_)) fail();
  }
  ~Floor() { PQfinish(connection_); }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  void insert_turns(int count) {
    send("BEGIN ISOLATION LEVEL SERIALIZABLE");
    for (int i = 0; i < count; ++i) insert_turn(inserted_++);
    send("COMMIT");
    if (!PQpipelineSync(connection_)) fail();
    wait();
  }

  long inserted() const { return inserted_; }

private:
  [[noreturn]] void fail() const {
    std::fprintf(stderr, "%s\n", PQerrorMessage(connection_));
    std::exit(1);
  }

  void check(PGresult* result, ExecStatusType wanted) const {
    if (PQresultStatus(result) != wanted) fail();
  }

  void prepare(const char* name, const char* sql) {
    auto* result = PQprepare(connection_, name, sql, 0, nullptr);
    check(result, PGRES_COMMAND_OK);
    PQclear(result);
  }

  std::string new_thread(long number) {
    const auto sql = "INSERT INTO threads (id, agent_id, title, titled_by, mode, created_at, updated) VALUES ('floor-" +
                     id(number) + "', 'assistant', 'bench', 'person', 'plan', 0, 0) RETURNING number";
    auto* result = PQexec(connection_, sql.c_str());
    check(result, PGRES_TUPLES_OK);
    std::string made = PQgetvalue(result, 0, 0);
    PQclear(result);
    return made;
  }

  void send(const char* sql) {
    if (!PQsendQueryParams(connection_, sql, 0, nullptr, nullptr, nullptr, nullptr, 0)) fail();
  }

  template <std::size_t count>
  void send(const char* name, const std::array<const char*, count>& values) {
    if (!PQsendQueryPrepared(connection_, name, count, values.data(), nullptr, nullptr, 0)) fail();
  }

  void insert_turn(long number) {
    const auto& thread = threads_[static_cast<std::size_t>(number % thread_count)];
    const auto turn = "floor-" + id(number);
    const auto time = std::to_string(number);
    send<4>("turn", {turn.c_str(), thread.c_str(), time.c_str(), content_.c_str()});
    if (number / thread_count % entered_at_once != 0) return;
    send<1>("enter", {thread.c_str()});
    send<1>("entered", {thread.c_str()});
  }

  /// Waits for the results of all statements sent.
  void wait() const {
    for (bool is_over = false; !is_over;) {
      auto* result = PQgetResult(connection_);
      if (!result) continue;  // null separates the results of two statements
      const auto status = PQresultStatus(result);
      is_over = status == PGRES_PIPELINE_SYNC;
      if (status == PGRES_FATAL_ERROR || status == PGRES_PIPELINE_ABORTED) fail();
      PQclear(result);
    }
  }

  PGconn* connection_ = nullptr;
  std::vector<std::string> threads_;
  const std::string content_ = std::string(200, 'x');
  long inserted_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: pipeline_floor <url> <seconds> <group>\n");
    return 2;
  }
  const std::chrono::duration<double> seconds{std::atof(arguments[2])};
  const int group = std::atoi(arguments[3]);
  Floor floor(arguments[1]);
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> elapsed{};
  for (; elapsed < seconds; elapsed = std::chrono::steady_clock::now() - start) floor.insert_turns(group);
  std::printf("%.0f\n", static_cast<double>(floor.inserted()) / elapsed.count());
}
