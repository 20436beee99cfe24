#include "features/knowledge/search_terms.hpp"

#include <algorithm>
#include <set>

#include <boost/algorithm/string.hpp>

#include "base/containers.hpp"
#include "base/json/json.hpp"
#include "base/text/ascii.hpp"
#include "base/text/word_segmentation.hpp"

namespace agw {

namespace {

constexpr std::size_t max_question_bytes = 4096;
constexpr double weight_of_phrase = 1.5;

const std::set<std::string_view>& stop_words() {
  static const std::set<std::string_view> words{
      "a",     "about", "all",   "also", "am",   "an",    "and",  "any",   "are",   "as",    "at",     "be",
      "been",  "being", "but",   "by",   "can",  "could", "did",  "do",    "does",  "doing", "don",    "each",
      "for",   "from",  "get",   "had",  "has",  "have",  "he",   "her",   "here",  "his",   "how",    "i",
      "if",    "in",    "into",  "is",   "it",   "its",   "just", "let",   "may",   "me",    "might",  "must",
      "my",    "no",    "of",    "on",   "or",   "our",   "out",  "s",     "shall", "she",   "should", "so",
      "some",  "such",  "t",     "tell", "than", "that",  "the",  "their", "them",  "then",  "there",  "these",
      "they",  "this",  "those", "to",   "us",   "very",  "was",  "way",   "we",    "were",  "what",   "when",
      "where", "which", "while", "who",  "whom", "whose", "why",  "will",  "with",  "would", "you",    "your"};
  return words;
}

bool is_word_byte(char c) { return static_cast<unsigned char>(c) >= 0x80 || is_digit(c) || is_lower(c); }

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

enum class StopWords { left_out, kept };

class Terms {
public:
  explicit Terms(StopWords policy) : stop_word_policy_(policy) {}

  void add_token(std::string_view token) {
    std::vector<std::string_view> words = words_of(token);
    if (words.empty()) return;
    const bool open = token.back() == '*' && words.size() == 1;
    if (words.size() > 1)
      add(in_quotes(boost::join(std::vector<std::string>(words.begin(), words.end()), " ")), weight_of_phrase);
    for (const auto word : words) {
      if (stop_word_policy_ == StopWords::left_out && stop_words().contains(word)) continue;
      add(in_quotes(word) + (open ? " *" : ""), 1, has_unsegmented_script(word) ? word : std::string_view());
    }
  }

  void add_phrase(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty()) return;
    const bool is_part = words.size() == 1 && has_unsegmented_script(words.front());
    add(in_quotes(boost::join(std::vector<std::string>(words.begin(), words.end()), " ")), 2 * weight_of_phrase,
        is_part ? words.front() : std::string_view());
  }

  std::vector<SearchTerm> list;

private:
  static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t place = 0; place < text.size();) {
      const auto begin = place;
      while (place < text.size() && is_word_byte(text[place])) ++place;
      for (const auto part : split_by_punctuation(text.substr(begin, place - begin))) {
        const auto found = split_by_script(part);
        words.insert(words.end(), found.begin(), found.end());
      }
      place += place == begin ? 1 : 0;
    }
    return words;
  }

  void add(std::string query, double weight, std::string_view part = {}) {
    if (list.size() == max_search_terms) return;
    if (contains(list, query, &SearchTerm::query)) return;
    const auto parts = std::ranges::count_if(list, [](const SearchTerm& term) { return !term.part.empty(); });
    list.push_back({std::move(query), weight, std::string(parts < max_unsegmented_terms ? part : std::string_view())});
  }

  StopWords stop_word_policy_;
};

std::vector<SearchTerm> terms_of(std::string_view text, StopWords policy) {
  Terms terms(policy);
  bool in_phrase = false;
  for (const auto quote_free = std::string_view("\""); !text.empty(); in_phrase = !in_phrase) {
    const auto end = std::min(text.find(quote_free), text.size());
    const auto part = text.substr(0, end);
    if (in_phrase && end < text.size()) {
      terms.add_phrase(part);
    } else {
      std::vector<std::string> tokens;
      boost::split(tokens, part, boost::is_space(), boost::token_compress_on);
      for (const auto& token : tokens) {
        if (!token.empty()) terms.add_token(token);
      }
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(terms.list);
}

}  // namespace

bool is_stop_word(std::string_view word) { return stop_words().contains(word); }

std::vector<SearchTerm> search_terms(std::string_view question) {
  const auto text = boost::to_lower_copy(to_utf8(question.substr(0, max_question_bytes)), std::locale::classic());
  auto terms = terms_of(text, StopWords::left_out);
  return terms.empty() ? terms_of(text, StopWords::kept) : terms;
}

}  // namespace agw
