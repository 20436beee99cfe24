#include "features/knowledge/page.hpp"

#include <algorithm>

#include <boost/algorithm/string.hpp>

#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/markdown.hpp"
#include "features/knowledge/types.hpp"

namespace agw {

namespace {

constexpr std::size_t max_summary_length = 1000;
/// Only this part of a page is searched, so that one page cannot occupy the writer for long.
constexpr std::size_t max_bytes_indexed = 1024 * 1024;
constexpr std::string_view agent_prefix = "agent:";

/// Only a file in the shared directory may choose another scope; an agent's files always have the agent's scope.
std::string scope_of(const std::string& path, const PageHead& head) {
  auto scope = scope_of_path(path);
  const bool is_other = head.scope.starts_with(agent_prefix) && head.scope.size() > agent_prefix.size();
  return scope == shared_scope && is_other ? head.scope : scope;
}

std::int64_t count_words(std::string_view text) {
  std::int64_t words = 0;
  bool in_word = false;
  for (const char c : text) {
    const bool is_blank = static_cast<unsigned char>(c) <= ' ';
    if (!is_blank && !in_word) ++words;
    in_word = !is_blank;
  }
  return words;
}

std::vector<std::string> slugs_of(const MarkdownOutline& outline, const std::string& own_slug) {
  std::vector<std::string> slugs;
  for (const auto* list : {&outline.wiki_links, &outline.file_links}) {
    for (const auto& target : *list) slugs.push_back(slug_of(target));
  }
  std::ranges::sort(slugs);
  const auto doubles = std::ranges::unique(slugs);
  slugs.erase(doubles.begin(), doubles.end());
  std::erase(slugs, own_slug);
  return slugs;
}

std::string first_of(std::initializer_list<std::string_view> texts, std::size_t bytes) {
  for (const auto text : texts) {
    if (auto line = single_line(text, bytes); !line.empty()) return line;
  }
  return {};
}

IndexedPage indexed(const std::string& path, const FileStamp& stamp, PageText text) {
  const auto outline = outline_of(text.body);
  const auto first_heading = outline.headings.empty() ? std::string() : outline.headings.front();
  IndexedPage page{.path = path, .stamp = stamp, .scope = scope_of(path, text.head)};
  page.slug = slug_of(stem_of_path(path));
  page.title = first_of({text.head.title, outline.title, first_heading, title_of_name(stem_of_path(path)), page.slug},
                        max_title_length);
  page.summary = first_of({text.head.summary, summary_of(outline.first_paragraph)}, max_summary_length);
  page.category = first_of({text.head.category, default_category}, max_title_length);
  page.tags = std::move(text.head.tags);
  page.sources = std::move(text.head.sources);
  page.entities = std::move(text.head.entities);
  for (std::size_t i = 0; i < page.entities.size(); ++i) page.entity_ids.push_back(new_id());
  page.links = slugs_of(outline, page.slug);
  page.words = count_words(outline.plain_text);
  page.updated_at = text.head.updated_at.value_or(modified_at(stamp));
  page.headings = boost::join(outline.headings, "\n") + "\n" + boost::join(page.tags, " ");
  page.body = utf8_prefix(outline.plain_text, max_bytes_indexed);
  return page;
}

}  // namespace

std::optional<IndexedPage> read_page(const KnowledgeTree& tree, const std::string& path) {
  AGW_DEBUG_ASSERT(may_block());

  // The stamp is read before the content, so that a change in between counts as a new version.
  const auto stamp = tree.directory().stamp(path);
  const auto content = tree.directory().read(path, max_knowledge_file_size);
  if (!stamp || !content) {
    if (content.has_error() && content.error() != FileError::not_found) {
      log::warn("the knowledge page {} is left out: {}", path, to_string(content.error()));
    }
    return std::nullopt;
  }
  auto text = read_page_text(*content);
  if (!text.problem.empty()) log::warn("the head of the knowledge page {} is not valid YAML: {}", path, text.problem);
  return indexed(path, *stamp, std::move(text));
}

}  // namespace agw
