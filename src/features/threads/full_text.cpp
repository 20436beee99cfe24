#include "features/threads/full_text.hpp"

#include <sqlite3.h>

#include <cstring>

#include "base/async/assert.hpp"
#include "storage/full_text_api.hpp"

namespace agw {

namespace {

constexpr int body_column = 1;

/// How often a phrase occurs in the body of the current row of `fts`.
std::uint32_t count(const Fts5ExtensionApi* api, Fts5Context* fts, int phrase) {
  Fts5PhraseIter place;
  int column = 0;
  int offset = 0;
  std::uint32_t found = 0;
  if (api->xPhraseFirst(fts, phrase, &place, &column, &offset) != SQLITE_OK) return 0;
  for (; column >= 0; api->xPhraseNext(fts, &place, &column, &offset)) {
    if (column == body_column) ++found;
  }
  return found;
}

void turn_hits(const Fts5ExtensionApi* api, Fts5Context* fts, sqlite3_context* result, int, sqlite3_value**) {
  int words = 0;
  const int code = api->xColumnSize(fts, body_column, &words);
  if (code != SQLITE_OK) return sqlite3_result_error_code(result, code);
  std::vector<std::uint32_t> numbers{static_cast<std::uint32_t>(words)};
  for (int phrase = 0; phrase < api->xPhraseCount(fts); ++phrase) numbers.push_back(count(api, fts, phrase));
  sqlite3_result_blob64(result, numbers.data(), numbers.size() * sizeof(numbers.front()), SQLITE_TRANSIENT);
}

}  // namespace

void add_hits_function(Connection& connection) {
  auto* api = full_text_api(connection);
  connection.check(api->xCreateFunction(api, "turn_hits", nullptr, turn_hits, nullptr), "turn_hits");
}

std::vector<std::uint32_t> read_hits(std::string_view blob) {
  // As `turn_hits` writes them: at least the length.
  AGW_ASSERT(!blob.empty());
  AGW_ASSERT(blob.size() % sizeof(std::uint32_t) == 0);
  std::vector<std::uint32_t> numbers(blob.size() / sizeof(std::uint32_t));
  std::memcpy(numbers.data(), blob.data(), numbers.size() * sizeof(std::uint32_t));
  return numbers;
}

}  // namespace agw
