// What this disk and SQLite can do at best: turns inserted by a bare loop, `group` to a commit, durable as the
// gateway's.
//
//     sqlite_floor <directory> <seconds> <group>
//
// Prints inserts a second. The tables are close copies of the gateway's, without its full-text index.
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

constexpr auto schema = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA cache_size = -4096;
CREATE TABLE threads (rowid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT,
                      created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, turn_count INTEGER NOT NULL);
CREATE INDEX threads_updated ON threads (updated_at);
CREATE TABLE turns (rowid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
                    thread_id TEXT NOT NULL REFERENCES threads (id), role TEXT NOT NULL, content TEXT NOT NULL,
                    metadata TEXT, created_at INTEGER NOT NULL);
CREATE INDEX turns_thread ON turns (thread_id, rowid);
)";

constexpr int threads = 64;

void check(int code, sqlite3* database) {
  if (code == SQLITE_OK || code == SQLITE_DONE) return;
  std::fprintf(stderr, "%s\n", sqlite3_errmsg(database));
  std::exit(1);
}

/// Ids of the length and the order in time that the gateway's have.
std::string id(long number) {
  char text[64];
  std::snprintf(text, sizeof text, "%012lx-7000-8000-%012lx", static_cast<unsigned long>(number),
                static_cast<unsigned long>(number * 2654435761));
  return text;
}

class Floor {
public:
  explicit Floor(const std::string& file) {
    check(sqlite3_open(file.c_str(), &database_), database_);
    check(sqlite3_exec(database_, schema, nullptr, nullptr, nullptr), database_);
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    auto* thread = prepare("INSERT INTO threads (id, created_at, updated_at, turn_count) VALUES (?, 0, 0, 0)");
    for (int i = 0; i < threads; ++i) run(thread, id(i));
    sqlite3_finalize(thread);
    turn_ = prepare("INSERT INTO turns (id, thread_id, role, content, created_at) VALUES (?, ?, 'user', ?, ?)");
    touch_ = prepare("UPDATE threads SET updated_at = ?2, turn_count = turn_count + 1 WHERE id = ?1");
  }

  ~Floor() {
    for (auto* statement : {begin_, commit_, turn_, touch_}) sqlite3_finalize(statement);
    sqlite3_close(database_);
  }

  void insert_group(long first, int size) {
    run(begin_);
    for (long number = first; number < first + size; ++number) {
      const auto thread = id(number % threads);
      sqlite3_bind_text(turn_, 2, thread.data(), static_cast<int>(thread.size()), SQLITE_STATIC);
      sqlite3_bind_text(turn_, 3, content_.data(), static_cast<int>(content_.size()), SQLITE_STATIC);
      sqlite3_bind_int64(turn_, 4, number);
      run(turn_, id(1'000'000 + number));
      sqlite3_bind_int64(touch_, 2, number);
      run(touch_, thread);
    }
    run(commit_);
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
  sqlite3_stmt* turn_ = nullptr;
  sqlite3_stmt* touch_ = nullptr;
  const std::string content_ = std::string(200, 'x');
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: sqlite_floor <directory> <seconds> <group>\n");
    return 2;
  }
  const auto file = std::filesystem::path(arguments[1]) / "sqlite_floor.db";
  const auto seconds = std::chrono::duration<double>(std::atof(arguments[2]));
  const int group = std::atoi(arguments[3]);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
  long inserted = 0;
  std::chrono::duration<double> elapsed{};
  {
    Floor floor(file.string());
    const auto start = std::chrono::steady_clock::now();
    for (; elapsed < seconds; elapsed = std::chrono::steady_clock::now() - start) {
      floor.insert_group(inserted, group);
      inserted += group;
    }
  }
  std::filesystem::remove(file);
  std::printf("%.0f\n", static_cast<double>(inserted) / elapsed.count());
}
