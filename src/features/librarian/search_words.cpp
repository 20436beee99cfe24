#include "features/librarian/search_words.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string.hpp>

#include "base/containers.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// Only the beginning of a message is read, because a pasted document follows the request.
constexpr std::size_t max_question_size = 4096;
constexpr std::size_t max_word_length = 64;
constexpr std::size_t min_prefix_length = 4;

constexpr std::string_view punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// Typographic characters that phones and word processors substitute for plain ones.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> typographic{{{"“", "\""},
                                                                                    {"”", "\""},
                                                                                    {"„", "\""},
                                                                                    {"‘", "'"},
                                                                                    {"’", "'"},
                                                                                    {"…", " "},
                                                                                    {"—", " "},
                                                                                    {"–", " "},
                                                                                    {"\u00a0", " "}}};

/// Words without information about the subject, including greetings and requests. A message that consists of them has
/// no search words.
const std::set<std::string_view>& question_stop_words() {
  static const std::set<std::string_view> words{
      "a",       "able",      "about",   "after",   "again",      "ago",   "all",  "already", "also",
      "am",      "an",        "and",     "any",     "anyone",     "are",   "as",   "ask",     "asked",
      "at",      "be",        "because", "been",    "before",     "being", "but",  "by",      "bye",
      "can",     "can't",     "could",   "did",     "didn't",     "do",    "does", "doesn't", "don't",
      "done",    "earlier",   "else",    "ever",    "everything", "find",  "for",  "from",    "gave",
      "get",     "give",      "good",    "goodbye", "got",        "had",   "has",  "have",    "he",
      "hello",   "help",      "her",     "here",    "hey",        "hi",    "him",  "his",     "how",
      "i",       "i'd",       "i'll",    "i'm",     "i've",       "if",    "in",   "into",    "is",
      "it",      "its",       "just",    "know",    "knows",      "let",   "look", "may",     "me",
      "mention", "mentioned", "might",   "mine",    "morning",    "must",  "my",   "no",      "not",
      "now",     "of",        "off",     "ok",      "okay",       "on",    "once", "or",      "our",
      "out",     "over",      "please",  "quote",   "remember",   "said",  "say",  "says",    "search",
      "see",     "shall",     "she",     "should",  "show",       "so",    "some", "someone", "something",
      "tell",    "thank",     "thanks",  "that",    "the",        "their", "them", "then",    "there",
      "these",   "they",      "thing",   "things",  "this",       "those", "to",   "told",    "too",
      "up",      "us",        "was",     "we",      "we've",      "were",  "what", "when",    "where",
      "which",   "while",     "who",     "whom",    "whose",      "why",   "will", "with",    "would",
      "wrote",   "yes",       "yet",     "you",     "you're",     "your",  "yours"};
  return words;
}

bool is_word_character(char c) { return static_cast<unsigned char>(c) >= 0x80 || is_alphanumeric(c); }

bool is_plain_word(std::string_view word) { return std::ranges::all_of(word, is_word_character); }

std::string normalized(std::string_view message) {
  std::string text(utf8_prefix(message, max_question_size));
  for (const auto& [mark, plain] : typographic) boost::replace_all(text, mark, plain);
  return lower_case(text);
}

std::string trimmed(std::string_view token) {
  auto word = boost::trim_copy_if(std::string(token), boost::is_any_of(punctuation));
  if (word.ends_with("'s")) word.resize(word.size() - 2);
  return word;
}

class Words {
public:
  void add_phrase(std::string_view text) {
    const auto phrase = boost::trim_copy(std::string(text));
    if (std::ranges::any_of(phrase, is_word_character)) add(phrase);
  }

  void add_words(const std::string& text) {
    std::vector<std::string> tokens;
    boost::split(tokens, text, boost::is_space(), boost::token_compress_on);
    for (const auto& token : tokens) {
      const auto word = trimmed(token);
      if (!word.empty() && !question_stop_words().contains(word)) add(word);
    }
  }

  std::vector<std::string> list;

private:
  void add(std::string_view word) {
    const std::string kept(utf8_prefix(word, max_word_length));
    if (list.size() < max_search_words && !contains(list, kept)) list.push_back(kept);
  }
};

/// Returns the common beginning of a word's inflected forms, or the word itself if that beginning would be too short to
/// be distinctive.
std::string_view stem(std::string_view word) {
  for (const std::string_view ending : {"ments", "ment", "ings", "ing", "ies", "ied", "es", "ed", "e", "s", "y"}) {
    if (!word.ends_with(ending) || word.size() < ending.size() + min_prefix_length) continue;
    const auto begin = word.substr(0, word.size() - ending.size());
    const bool is_part_of_vowel = ending == "y" && std::string_view("aeiou").find(begin.back()) != begin.npos;
    return is_part_of_vowel ? word : begin;
  }
  return word;
}

bool has_forms(std::string_view word) { return is_plain_word(word) && word.size() >= min_prefix_length; }

std::string term(std::string_view word) {
  if (has_forms(word)) return fmt::format("{}*", stem(word));
  return is_plain_word(word) ? std::string(word) : fmt::format("\"{}\"", word);
}

/// Includes the exact word, so that the ranking can take its rarity into account.
std::string either_term(std::string_view word) {
  return has_forms(word) ? fmt::format("{} OR {}", word, term(word)) : term(word);
}

bool occurs_in(std::string_view word, std::string_view text) {
  const bool any_form = has_forms(word);
  const auto sought = any_form ? stem(word) : word;
  for (auto at = text.find(sought); at != text.npos; at = text.find(sought, at + 1)) {
    const auto end = at + sought.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    if (begins && (any_form || end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

bool is_question(std::string_view text) {
  static const std::set<std::string> openings{"what", "when", "where", "which", "who", "whose", "why", "how",
                                              "did",  "do",   "does",  "is",    "are", "was",   "can", "have"};
  const auto plain = boost::trim_copy(normalized(text));
  return plain.ends_with('?') || openings.contains(trimmed(plain.substr(0, plain.find_first_of(white_space))));
}

}  // namespace

std::vector<std::string> search_words(std::string_view message) {
  const auto text = normalized(message);
  Words words;
  std::size_t place = 0;
  while (place < text.size()) {
    const auto open = text.find('"', place);
    const auto close = open == text.npos ? text.npos : text.find('"', open + 1);
    words.add_words(text.substr(place, close == text.npos ? text.npos : open - place));
    if (close == text.npos) break;
    words.add_phrase(std::string_view(text).substr(open + 1, close - open - 1));
    place = close + 1;
  }
  return words.list;
}

std::string search_query(const std::vector<std::string>& words, Match match) {
  std::vector<std::string> terms;
  terms.reserve(words.size());
  for (const auto& word : words) terms.push_back(match == Match::all ? term(word) : either_term(word));
  return fmt::format("{}", fmt::join(terms, match == Match::all ? " " : " OR "));
}

bool matches(std::string_view text, const std::vector<std::string>& words, Match match) {
  const auto folded = lower_case(text);
  const auto occurs = [&](const std::string& word) { return occurs_in(word, folded); };
  return match == Match::all ? std::ranges::all_of(words, occurs) : std::ranges::any_of(words, occurs);
}

bool only_asks_for(std::string_view text, const std::vector<std::string>& words) {
  const auto asked = fmt::format("{}", fmt::join(words, " "));
  return is_question(text) && matches(asked, search_words(text), Match::all);
}

}  // namespace agw
