#include "features/threads/full_text.hpp"

#include <sqlite3.h>

#include <cstring>

#include "base/text/word_segmentation.hpp"
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

struct Tokenizer::State {
  fts5_tokenizer methods{};
  Fts5Tokenizer* tokenizer = nullptr;
};

Tokenizer::Tokenizer(Connection& connection) : state_(std::make_unique<State>()) {
  auto* api = full_text_api(connection);
  void* context = nullptr;
  connection.check(api->xFindTokenizer(api, "unicode61", &context, &state_->methods), "unicode61");
  const char* arguments[] = {"remove_diacritics", "2"};
  connection.check(state_->methods.xCreate(context, arguments, std::size(arguments), &state_->tokenizer), "unicode61");
}

Tokenizer::~Tokenizer() { state_->methods.xDelete(state_->tokenizer); }

std::vector<IndexedWord> Tokenizer::tokens(std::string_view text) const {
  struct Found {
    std::vector<IndexedWord> words;
    std::size_t before = 0;  ///< bytes of the text before the piece
  };
  const auto add = [](void* data, int, const char* word, int size, int begin, int end) {
    auto& found = *static_cast<Found*>(data);
    found.words.push_back({std::string(word, static_cast<std::size_t>(size)),
                           found.before + static_cast<std::size_t>(begin),
                           found.before + static_cast<std::size_t>(end)});
    return SQLITE_OK;
  };
  Found found;
  for (const auto piece : split_by_script(text)) {
    state_->methods.xTokenize(state_->tokenizer, &found, FTS5_TOKENIZE_DOCUMENT, piece.data(),
                              static_cast<int>(piece.size()), add);
    found.before += piece.size();
  }
  return std::move(found.words);
}

void add_hits_function(Connection& connection) {
  auto* api = full_text_api(connection);
  connection.check(api->xCreateFunction(api, "turn_hits", nullptr, turn_hits, nullptr), "turn_hits");
}

std::vector<std::uint32_t> read_hits(std::string_view blob) {
  std::vector<std::uint32_t> numbers(blob.size() / sizeof(std::uint32_t));
  std::memcpy(numbers.data(), blob.data(), numbers.size() * sizeof(std::uint32_t));
  return numbers;
}

}  // namespace agw
