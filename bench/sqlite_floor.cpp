// The limit of this disk and SQLite: records inserted by a bare loop, in commits of a given size. They are as durable
// as the gateway's and use its own tables, without its search index.
//
// sqlite_floor <directory> <seconds> <group> turns|threads <migration.sql>...
//
// Prints inserts per second.
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "bench/floor_rows.hpp"

namespace {

constexpr auto settings = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -4096;
)";

void check(int code, sqlite3* database) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  std::fprintf(stderr, "%s\n", sqlite3_errmsg(database));
  std::exit(1);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Floor {
public:
  explicit Floor(const std::string& file) { check(sqlite3_open(file.c_str(), &database_), database_); }
  ~Floor() {
    for (auto* statement : {begin_, commit_, thread_, turn_, touch_, enter_, entered_}) sqlite3_finalize(statement);
    sqlite3_close(database_);
  }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  void execute(const std::string& sql) {
    check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), database_);
  }

  void prepare() {
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    thread_ = prepare(
        "INSERT INTO threads (id, agent_id, title, titled_by, mode, created_at, updated) "
        "VALUES (?, 'assistant', 'bench', 'person', 'plan', ?2, ?2)");
    turn_ = prepare("INSERT INTO turns (id, thread, role, created_at, content) VALUES (?, ?, 'user', ?, ?)");
    touch_ = prepare(
        "UPDATE threads SET turn_count = turn_count + 1, updated = ?2, newest_turns = newest_turns || ',' || ?3 "
        "WHERE id = ?1");
    enter_ = prepare(
        "INSERT INTO turn_order (thread, turn) SELECT number, value FROM threads, "
        "json_each('[' || substr(newest_turns, 2) || ']') WHERE threads.id = ?1");
    entered_ = prepare("UPDATE threads SET newest_turns = '' WHERE id = ?1");
    for (int i = 0; i < thread_count; ++i) insert_thread(i);
  }

  void begin() { run(begin_); }
  void commit() { run(commit_); }

  void insert_thread(long number) {
    sqlite3_bind_int64(thread_, 2, number);
    run(thread_, id(number));
  }

  void insert_turn(long number) {
    const long thread = number % thread_count;
    sqlite3_bind_int64(turn_, 2, thread + 1);
    sqlite3_bind_int64(turn_, 3, number);
    sqlite3_bind_text(turn_, 4, content_.data(), static_cast<int>(content_.size()), SQLITE_STATIC);
    run(turn_, id(number));
    sqlite3_bind_int64(touch_, 2, number);
    sqlite3_bind_int64(touch_, 3, sqlite3_last_insert_rowid(database_));
    run(touch_, id(thread));
    if (number / thread_count % entered_at_once != 0) return;
    run(enter_, id(thread));
    run(entered_, id(thread));
  }

private:
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr), database_);
    return statement;
  }

  void run(sqlite3_stmt* statement, const std::string& first) {
    sqlite3_bind_text(statement, 1, first.data(), static_cast<int>(first.size()), SQLITE_TRANSIENT);
    run(statement);
  }

  void run(sqlite3_stmt* statement) {
    check(sqlite3_step(statement), database_);
    sqlite3_reset(statement);
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* thread_ = nullptr;
  sqlite3_stmt* turn_ = nullptr;
  sqlite3_stmt* touch_ = nullptr;
  sqlite3_stmt* enter_ = nullptr;
  sqlite3_stmt* entered_ = nullptr;
  const std::string content_ = std::string(200, 'x');
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) {
    std::fprintf(stderr, "usage: sqlite_floor <directory> <seconds> <group> turns|threads <migration.sql>...\n");
    return 2;
  }
  const auto file = std::filesystem::path(arguments[1]) / "sqlite_floor.db";
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
  const std::chrono::duration<double> seconds{std::atof(arguments[2])};
  const int group = std::atoi(arguments[3]);
  const auto insert = std::string_view(arguments[4]) == "threads" ? &Floor::insert_thread : &Floor::insert_turn;

  Floor floor(file.string());
  floor.execute(settings);
  for (int i = 5; i < count; ++i) floor.execute(read_file(arguments[i]));
  floor.prepare();
  long inserted = 0;
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> elapsed{};
  for (; elapsed < seconds; elapsed = std::chrono::steady_clock::now() - start) {
    floor.begin();
    for (int i = 0; i < group; ++i) (floor.*insert)(thread_count + inserted++);
    floor.commit();
  }
  std::printf("%.0f\n", static_cast<double>(inserted) / elapsed.count());
}
