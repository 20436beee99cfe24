#include "storage/tokenizer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/async/assert.hpp"
#include "base/text/ascii.hpp"
#include "base/text/word_segmentation.hpp"
#include "storage/full_text_api.hpp"

namespace agw {

namespace {

/// Calls `each(word, position)` for the words that SQLite's tokenizer finds in an ASCII text: runs of letters and
/// digits. It takes a third of the time, which counts when all turns of a burst are read.
void for_each_ascii_word(std::string_view text, const auto& each) {
  const auto folded = ascii_lower_case(text);
  for (auto at = folded.begin(); (at = std::find_if(at, folded.end(), is_alphanumeric)) != folded.end();) {
    const auto end = std::find_if_not(at, folded.end(), is_alphanumeric);
    each(std::string_view(at, end), static_cast<std::size_t>(at - folded.begin()));
    at = end;
  }
}

}  // namespace

struct Tokenizer::State {
  bool stems = false;
  std::optional<Connection> own;  ///< an SQLite connection, if the database uses another engine
  fts5_tokenizer methods{};
  Fts5Tokenizer* tokenizer = nullptr;
};

Tokenizer::Tokenizer(Connection& connection, Words words) : state_(std::make_unique<State>()) {
  if (connection.is_postgres()) state_->own.emplace(":memory:", Connection::Access::read_write);
  auto& sqlite = state_->own ? *state_->own : connection;
  auto* api = full_text_api(sqlite);
  AGW_CHECK(api, "this SQLite has no full-text search");
  const bool stems = state_->stems = words == Words::stemmed;
  const char* name = stems ? "porter" : "unicode61";
  std::array<const char*, 3> arguments{"unicode61", "remove_diacritics", "2"};
  void* context = nullptr;
  sqlite.check(api->xFindTokenizer(api, name, &context, &state_->methods), name);
  sqlite.check(state_->methods.xCreate(context, arguments.data() + (stems ? 0 : 1), stems ? 3 : 2, &state_->tokenizer),
               name);
}

Tokenizer::~Tokenizer() {
  if (state_->tokenizer) state_->methods.xDelete(state_->tokenizer);
}

std::vector<IndexedWord> Tokenizer::tokens(std::string_view text) const {
  struct Found {
    std::vector<IndexedWord> words;
    std::size_t before = 0;  ///< the position of the piece in the text
  };
  const auto add = [](void* data, int, const char* word, int size, int begin, int end) {
    auto& found = *static_cast<Found*>(data);
    AGW_DEBUG_ASSERT(begin >= 0);
    AGW_DEBUG_ASSERT(begin <= end);
    found.words.push_back({std::string(word, static_cast<std::size_t>(size)),
                           found.before + static_cast<std::size_t>(begin),
                           found.before + static_cast<std::size_t>(end)});
    return SQLITE_OK;
  };
  Found found;
  if (!state_->stems && is_ascii(text)) {
    for_each_ascii_word(text, [&](std::string_view word, std::size_t begin) {
      found.words.push_back({std::string(word), begin, begin + word.size()});
    });
    return std::move(found.words);
  }
  for (const auto piece : split_by_script(text)) {
    state_->methods.xTokenize(state_->tokenizer, &found, FTS5_TOKENIZE_DOCUMENT, piece.data(),
                              static_cast<int>(piece.size()), add);
    found.before += piece.size();
  }
  // Positions are those in the text only if the pieces are all of it.
  AGW_DEBUG_ASSERT(found.before == text.size());
  AGW_DEBUG_ASSERT(found.words.empty() || found.words.back().end <= text.size());
  return std::move(found.words);
}

void Tokenizer::for_each_word(std::string_view text, const std::function<void(std::string_view word)>& each) const {
  if (!state_->stems && is_ascii(text)) {
    for_each_ascii_word(text, [&](std::string_view word, std::size_t) { each(word); });
    return;
  }
  const auto pass_on = [](void* to, int, const char* word, int size, int, int) {
    (*static_cast<const std::function<void(std::string_view)>*>(to))({word, static_cast<std::size_t>(size)});
    return SQLITE_OK;
  };
  for (const auto piece : split_by_script(text)) {
    state_->methods.xTokenize(state_->tokenizer, const_cast<void*>(static_cast<const void*>(&each)),
                              FTS5_TOKENIZE_DOCUMENT, piece.data(), static_cast<int>(piece.size()), pass_on);
  }
}

}  // namespace agw
