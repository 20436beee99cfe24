#include "storage/full_text_api.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace agw {

fts5_api* full_text_api(Connection& connection) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  connection.check(sqlite3_prepare_v2(connection.handle(), "SELECT fts5(?1)", -1, &statement, nullptr), "fts5");
  sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
  sqlite3_step(statement);
  connection.check(sqlite3_finalize(statement), "fts5");
  return api;
}

bool merge_full_text(Connection& connection, std::string_view index, int pages) {
  const auto before = sqlite3_total_changes(connection.handle());
  connection.prepare(fmt::format("INSERT INTO {0} ({0}, rank) VALUES ('merge', :pages)", index))
      .bind(":pages", pages)
      .run();
  // The statement itself counts as one change.
  return sqlite3_total_changes(connection.handle()) - before >= 2;
}

}  // namespace agw
