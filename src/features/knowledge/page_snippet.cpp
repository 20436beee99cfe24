#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "features/knowledge/search_store.hpp"
#include "storage/full_text_api.hpp"

namespace agw {

namespace {

constexpr int body_column = 3;
constexpr int words_shown = 32;
constexpr std::string_view ellipsis = "…";

/// An occurrence of a phrase of the query: the numbers of its first word and of the word after its last.
struct Hit {
  int first = 0;
  int end = 0;
  int phrase = 0;
};

std::vector<Hit> hits_in_body(const Fts5ExtensionApi* api, Fts5Context* context) {
  std::vector<Hit> hits;
  for (int phrase = 0; phrase < api->xPhraseCount(context); ++phrase) {
    Fts5PhraseIter place;
    int column = 0;
    int word = 0;
    if (api->xPhraseFirst(context, phrase, &place, &column, &word) != SQLITE_OK) continue;
    for (; column >= 0; api->xPhraseNext(context, &place, &column, &word)) {
      if (column == body_column) hits.push_back({word, word + api->xPhraseSize(context, phrase), phrase});
    }
  }
  std::ranges::sort(hits, {}, &Hit::first);
  return hits;
}

/// The first word of the window with the most different phrases, centred on them; of equal windows the first. 0 if
/// there are no hits.
int best_start(const std::vector<Hit>& hits, int phrases, int words) {
  std::vector<int> shown(static_cast<std::size_t>(phrases));
  const auto count_of = [&](const Hit& hit) -> int& { return shown[static_cast<std::size_t>(hit.phrase)]; };
  int different = 0;
  int best_count = 0;
  int start = 0;
  auto first = hits.begin();
  for (const auto& last : hits) {
    if (count_of(last)++ == 0) ++different;
    const auto is_too_long = [&] { return last.end - first->first > words_shown && first->first < last.first; };
    for (; count_of(*first) > 1 || is_too_long(); ++first) {
      if (--count_of(*first) == 0) --different;
    }
    if (different <= best_count) continue;
    best_count = different;
    start = first->first - (words_shown - (last.end - first->first)) / 2;
  }
  return std::clamp(start, 0, std::max(0, words - words_shown));
}

bool occurs_at(const PagePhrase& phrase, const std::vector<IndexedWord>& words, std::size_t n) {
  const auto count = phrase.words.size();
  if (count == 0 || words.size() - n < count) return false;
  const auto& last = phrase.words.back();
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (words[n + i].word != phrase.words[i]) return false;
  }
  const auto& word = words[n + count - 1].word;
  if (phrase.is_part) return word.find(last) != word.npos;
  return phrase.open ? word.starts_with(last) : word == last;
}

std::vector<Hit> hits_in(const std::vector<IndexedWord>& words, const std::vector<PagePhrase>& phrases) {
  std::vector<Hit> hits;
  for (std::size_t n = 0; n < words.size(); ++n) {
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      if (!occurs_at(phrases[i], words, n)) continue;
      hits.push_back({static_cast<int>(n), static_cast<int>(n + phrases[i].words.size()), static_cast<int>(i)});
    }
  }
  return hits;
}

/// The byte range of the words from number `start` on.
struct Stretch {
  int start = 0;
  int word = 0;  ///< number of the next word
  int begin = 0;
  int end = 0;
};

int take_word(void* data, int flags, const char*, int, int begin, int end) {
  auto& stretch = *static_cast<Stretch*>(data);
  if (flags & FTS5_TOKEN_COLOCATED) return SQLITE_OK;
  if (stretch.word == stretch.start) stretch.begin = begin;
  if (stretch.word >= stretch.start) stretch.end = end;
  ++stretch.word;
  return stretch.word == stretch.start + words_shown ? SQLITE_DONE : SQLITE_OK;
}

void page_snippet(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result, int, sqlite3_value**) {
  const char* text = nullptr;
  int size = 0;
  int words = 0;
  if (api->xColumnText(context, body_column, &text, &size) != SQLITE_OK ||
      api->xColumnSize(context, body_column, &words) != SQLITE_OK) {
    return sqlite3_result_error(result, "page_snippet cannot read the text", -1);
  }
  Stretch stretch{.start = best_start(hits_in_body(api, context), api->xPhraseCount(context), words)};
  const int read = api->xTokenize(context, text, size, &stretch, take_word);
  if (read != SQLITE_OK && read != SQLITE_DONE) return sqlite3_result_error_code(result, read);
  const bool has_begin = stretch.start == 0;
  const bool has_end = stretch.word >= words;
  const int begin = has_begin ? 0 : stretch.begin;
  const int end = has_end ? size : stretch.end;
  std::string snippet(has_begin ? "" : ellipsis);
  snippet.append(text + begin, static_cast<std::size_t>(end - begin));
  if (!has_end) snippet += ellipsis;
  sqlite3_result_text64(result, snippet.data(), snippet.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

std::string snippet_of_page(std::string_view body, const std::vector<IndexedWord>& words,
                            const std::vector<PagePhrase>& phrases) {
  const auto start = static_cast<std::size_t>(
      best_start(hits_in(words, phrases), static_cast<int>(phrases.size()), static_cast<int>(words.size())));
  const auto next = std::min(words.size(), start + words_shown);
  const bool has_begin = start == 0;
  const bool has_end = next == words.size();
  const auto begin = has_begin ? 0 : words[start].begin;
  const auto end = has_end ? body.size() : words[next - 1].end;
  std::string snippet(has_begin ? "" : ellipsis);
  snippet.append(body.substr(begin, end - begin));
  if (!has_end) snippet += ellipsis;
  return snippet;
}

void add_page_snippet(Connection& connection) {
  auto* api = full_text_api(connection);
  connection.check(api->xCreateFunction(api, "page_snippet", nullptr, page_snippet, nullptr), "page_snippet");
}

}  // namespace agw
