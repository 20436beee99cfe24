#include "storage/full_text_api.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/containers.hpp"

namespace agw {

namespace {

/// The maximum number of words to check, which takes about half a second.
constexpr std::int64_t max_checked = 1'000'000;

/// A statement over the vocabulary of `index`, a table that is created per connection at the first use.
Statement prepare_with_vocabulary(Connection& connection, std::string_view index, const std::string& sql) {
  try {
    return connection.prepare(sql);
  } catch (const DatabaseError&) {
    connection.execute(
        fmt::format("CREATE VIRTUAL TABLE IF NOT EXISTS temp.{0}_vocabulary USING fts5vocab(main, {0}, row)", index));
    return connection.prepare(sql);
  }
}

}  // namespace

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

std::int64_t count_segments(Connection& connection, std::string_view index) {
  // The table has about one row per page, so the query steps from segment to segment.
  auto row = connection.prepare(
      fmt::format("WITH RECURSIVE segments (id) AS (SELECT min(segid) FROM {0}_idx UNION ALL SELECT (SELECT min(segid) "
                  "FROM {0}_idx WHERE segid > id) FROM segments WHERE id IS NOT NULL) SELECT count(id) FROM segments",
                  index));
  row.step();
  return row.integer(0);
}

std::vector<std::string> words_with_part(Connection& connection, std::string_view index, const std::string& part) {
  constexpr auto first_letter = "\xe0\xb8\x81";  // U+0E01
  auto row = prepare_with_vocabulary(
      connection, index,
      fmt::format("SELECT term FROM (SELECT term FROM temp.{0}_vocabulary WHERE term >= :letter LIMIT :looked_at) "
                  "WHERE instr(term, :part) > 0 UNION ALL SELECT term FROM (SELECT term FROM temp.{0}_vocabulary "
                  "WHERE term >= '0' AND term < ':' LIMIT :looked_at) WHERE instr(term, :part) > 0 LIMIT :most",
                  index));
  row.bind(":letter", first_letter)
      .bind(":part", part)
      .bind(":looked_at", max_checked)
      .bind(":most", max_words_with_part);
  std::vector<std::string> words;
  while (row.step()) words.push_back(row.string(0));
  if (words.size() == max_words_with_part && !contains(words, part)) words.back() = part;
  return words;
}

std::string any_word(const std::vector<std::string>& words) {
  return fmt::format("(\"{}\")", fmt::join(words, "\" OR \""));
}

}  // namespace agw
