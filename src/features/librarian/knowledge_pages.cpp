#include "features/librarian/knowledge_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "features/librarian/text.hpp"

namespace agw {

namespace {

/// Few, to leave room for past turns.
constexpr std::size_t max_cited_pages = 3;
constexpr std::size_t max_page_title_length = 80;

/// Returns the words as a query. Quoted phrases stay phrases.
std::string question_of(const std::vector<std::string>& words) {
  std::vector<std::string> terms;
  terms.reserve(words.size());
  for (const auto& word : words) {
    terms.push_back(word.find(' ') == word.npos ? word : fmt::format("\"{}\"", word));
  }
  return fmt::format("{}", fmt::join(terms, " "));
}

Passage passage_of(const KnowledgeHit& hit) {
  const auto title = on_one_line(hit.title, max_page_title_length);
  const auto whose = hit.scope == shared_scope ? "" : ", of this agent";
  return {.text = hit.snippet, .source = fmt::format("the knowledge page “{}” (`{}`{})", title, hit.slug, whose)};
}

}  // namespace

Task<std::vector<Passage>> KnowledgePages::find(LibraryQuestion question) {
  std::vector<Passage> passages;
  if (question.words.empty()) co_return passages;
  const auto agent = extensions_.find_agent(question.agent_id);
  const auto hits = co_await knowledge_.search_for_agent(
      {.question = question_of(question.words),
       .agent_name = agent ? agent->name : std::string(),
       .wanted = question.match == Match::all ? TermsWanted::all : TermsWanted::any,
       .limit = std::min(max_cited_pages, question.limit)});
  for (const auto& hit : hits) passages.push_back(passage_of(hit));
  co_return passages;
}

}  // namespace agw
