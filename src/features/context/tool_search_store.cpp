#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/context/deferred_tools_store.hpp"
#include "storage/connection.hpp"

namespace agw::tool_search_store {

namespace {

/// Bytes of text of one tool that are indexed. More would only slow down the search.
constexpr std::size_t max_text = std::size_t{8} * 1024;
constexpr std::size_t max_words = 32;
/// Shorter words do not match as prefixes, only as whole words.
constexpr std::size_t min_prefix = 3;

/// Groups of verbs that people and services use for the same operation.
constexpr std::array<std::array<std::string_view, 8>, 6> synonyms{{
    {"create", "add", "make", "new", "open", "insert", "register", "start"},
    {"delete", "remove", "drop", "erase", "destroy", "rid", "clear", "purge"},
    {"list", "show", "all", "every", "each", "browse", "overview", "which"},
    {"get", "read", "fetch", "retrieve", "view", "details", "single", "one"},
    {"update", "edit", "change", "modify", "rename", "correct", "adjust", "set"},
    {"search", "find", "look", "lookup", "query", "locate", "where", "matching"},
}};
/// Words without meaning in a question, which would only match tools that contain them by chance.
constexpr std::array<std::string_view, 29> fillers{
    "a",  "an",  "and", "any", "are",    "can",  "could", "do",    "for",   "i",    "in", "is", "it",   "me", "my",
    "of", "our", "on",  "or",  "please", "that", "the",   "their", "there", "this", "to", "we", "with", "you"};

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80; }

/// Splits names such as `getUserInfo` into words, which the tokenizer does not do.
std::string with_split_words(std::string_view text) {
  std::string split;
  char previous = ' ';
  for (const char c : text) {
    if (is_upper(c) && is_in_word(previous) && !is_upper(previous)) split += ' ';
    split += previous = c;
  }
  return split;
}

/// Appends the names and descriptions of arguments, at any depth.
void add_arguments(std::string& text, const json::value& schema) {
  if (text.size() > max_text) return;
  if (const auto* list = schema.if_array()) {
    for (const auto& one : *list) add_arguments(text, one);
  }
  const auto* members = schema.if_object();
  if (!members) return;
  for (const auto& [name, value] : *members) {
    if (name == "description" && value.is_string()) text.append(value.get_string()) += '\n';
    if (name == "properties" && value.is_object()) {
      for (const auto& property : value.get_object()) text.append(with_split_words(property.key())) += '\n';
    }
    add_arguments(text, value);
  }
}

void add_alternative(std::string& query, std::string_view word, bool is_prefix) {
  query.append(query.empty() ? "\"" : " OR \"").append(word) += is_prefix ? "\"*" : "\"";
}

void add_synonyms(std::string& query, const std::string& word) {
  for (const auto& group : synonyms) {
    if (!contains(group, word)) continue;
    for (const auto other : group) {
      if (other != word) add_alternative(query, other, false);
    }
  }
}

/// An FTS5 query that matches each word of `text`, longer words that begin with it, and its synonyms.
std::string any_word_of(std::string_view text) {
  std::string query;
  std::size_t words = 0;
  const auto split = with_split_words(text);
  for (std::size_t at = 0; at < split.size() && words < max_words;) {
    auto end = at;
    while (end < split.size() && is_in_word(split[end])) ++end;
    const auto word = lower_case(std::string_view(split).substr(at, end - at));
    at = end + 1;
    if (word.empty() || contains(fillers, word)) continue;
    ++words;
    add_alternative(query, word, word.size() >= min_prefix);
    add_synonyms(query, word);
  }
  return query;
}

std::string limited(std::string_view text) { return std::string(utf8_prefix(text, max_text)); }

}  // namespace

std::vector<std::size_t> best(const std::vector<ToolDescription>& tools, std::string_view query, std::size_t limit) {
  const auto words = any_word_of(query);
  if (words.empty()) return {};
  Connection index(":memory:", Connection::Access::read_write);
  index.execute(
      "CREATE VIRTUAL TABLE tools USING fts5(name, description, arguments, "
      "tokenize = 'porter unicode61 remove_diacritics 2'); BEGIN");
  for (std::size_t number = 0; number < tools.size(); ++number) {
    std::string arguments;
    add_arguments(arguments, *tools[number].input_schema);
    index.prepare("INSERT INTO tools (rowid, name, description, arguments) VALUES (:number, :name, :said, :arguments)")
        .bind(":number", number)
        .bind(":name", with_split_words(tools[number].name))
        .bind(":said", limited(tools[number].description))
        .bind(":arguments", limited(arguments))
        .run();
  }
  auto row = index.prepare(
      "SELECT rowid FROM tools WHERE tools MATCH :words ORDER BY bm25(tools, 6.0, 3.0, 1.0), rowid LIMIT :limit");
  row.bind(":words", words).bind(":limit", limit);
  std::vector<std::size_t> found;
  while (row.step()) found.push_back(static_cast<std::size_t>(row.integer(0)));
  AGW_ASSERT(found.size() <= limit);
  AGW_DEBUG_ASSERT(std::ranges::all_of(found, [&](std::size_t number) { return number < tools.size(); }));
  return found;
}

}  // namespace agw::tool_search_store
