#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "features/knowledge/search_store.hpp"
#include "storage/full_text_api.hpp"

namespace agw {

namespace {

/// The weight of a field.
struct FieldRank {
  double weight;  ///< the weight of a word in the field
  double length;  ///< 0 to 1: how strongly the field's length reduces the weight of a word
};

/// Title, headings, summary, body. Tuned on the documentation in bench/knowledge.
constexpr std::array<FieldRank, 4> fields{{{20, 0.3}, {1, 0.75}, {20, 0.5}, {1, 0.75}}};
/// BM25's k1: how many repetitions of a word still raise the score.
constexpr double saturation = 8;

using FieldNumbers = std::array<double, fields.size()>;

/// The average number of words per field. Cached during a query, because computing it costs as much as ranking a page.
const FieldNumbers* average_lengths(const Fts5ExtensionApi* api, Fts5Context* context) {
  if (const void* known = api->xGetAuxdata(context, 0)) return static_cast<const FieldNumbers*>(known);
  auto average = std::make_unique<FieldNumbers>();
  sqlite3_int64 rows = 0;
  if (api->xRowCount(context, &rows) != SQLITE_OK) return nullptr;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    sqlite3_int64 words = 0;
    if (api->xColumnTotalSize(context, static_cast<int>(i), &words) != SQLITE_OK) return nullptr;
    average->at(i) = std::max(1.0, static_cast<double>(words) / static_cast<double>(std::max<sqlite3_int64>(1, rows)));
  }
  const auto* found = average.get();
  const auto forget = [](void* kept) { delete static_cast<FieldNumbers*>(kept); };
  return api->xSetAuxdata(context, average.release(), forget) == SQLITE_OK ? found : nullptr;
}

/// Reads the weight of a word in each field of the current row, adjusted for the field's length.
bool read_field_weights(const Fts5ExtensionApi* api, Fts5Context* context, FieldNumbers& counts) {
  const auto* average = average_lengths(api, context);
  if (!average) return false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    int words = 0;
    if (api->xColumnSize(context, static_cast<int>(i), &words) != SQLITE_OK) return false;
    counts[i] = fields[i].weight / (1 - fields[i].length + fields[i].length * words / (*average)[i]);
  }
  return true;
}

double occurrences(const Fts5ExtensionApi* api, Fts5Context* context, int phrase, const FieldNumbers& counts) {
  Fts5PhraseIter place;
  int column = 0;
  int offset = 0;
  double found = 0;
  if (api->xPhraseFirst(context, phrase, &place, &column, &offset) != SQLITE_OK) return 0;
  for (; column >= 0; api->xPhraseNext(context, &place, &column, &offset)) {
    found += counts.at(static_cast<std::size_t>(column));
  }
  return found;
}

void page_score(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result, int count,
                sqlite3_value** arguments) {
  FieldNumbers counts{};
  const int phrases = api->xPhraseCount(context);
  const bool is_weighted =
      count == 1 && sqlite3_value_bytes(arguments[0]) == phrases * static_cast<int>(sizeof(double));
  if (!is_weighted || !read_field_weights(api, context, counts)) {
    return sqlite3_result_error(result, "page_score needs a weight for each phrase", -1);
  }
  double score = 0;
  for (int phrase = 0; phrase < phrases; ++phrase) {
    double weight = 0;
    std::memcpy(&weight, static_cast<const char*>(sqlite3_value_blob(arguments[0])) + phrase * sizeof weight,
                sizeof weight);
    if (weight == 0) continue;
    const double found = occurrences(api, context, phrase, counts);
    score += weight * found * (saturation + 1) / (found + saturation);
  }
  sqlite3_result_double(result, score);
}

}  // namespace

void add_page_score(Connection& connection) {
  auto* api = full_text_api(connection);
  connection.check(api->xCreateFunction(api, "page_score", nullptr, page_score, nullptr), "page_score");
}

}  // namespace agw
