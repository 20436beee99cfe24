#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.hpp"
#include "features/knowledge/compile.hpp"
#include "features/knowledge/page_index.hpp"
#include "features/knowledge/search_store.hpp"
#include "features/knowledge/summaries.hpp"
#include "features/knowledge/types.hpp"

namespace agw {

/// What an agent looks up.
struct AgentKnowledgeSearch {
  std::string question;
  std::string agent_name;
  TermsWanted wanted = TermsWanted::any;
  std::size_t limit = 10;
};

/// A text that becomes a raw source.
struct NewSource {
  std::string agent_name;  ///< whose it will be
  std::string name;        ///< of the file, with an ending for what is no Markdown; only its letters matter
  std::string title;       ///< empty for what the text says itself
  std::string origin;      ///< where it is from: an address, a path, a thread
  std::string text;        ///< UTF-8
};

/// What became of it.
struct IngestedSource {
  std::string path;     ///< of the raw file, relative to the data directory
  std::string slug;     ///< of its page; empty where it cannot become one
  std::string problem;  ///< then why
};

/// What the gateway's agents and its person know: pages in Markdown files, compiled from raw sources or written by
/// hand. Whatever is asked, the answer is as new as the files.
class Knowledge {
public:
  Knowledge(Loop& loop, BlockingPool& blocking, Database& database, const Clock& clock,
            std::filesystem::path data_directory, BackgroundCompletions& completions);

  /// Begins to read what has changed while the gateway was down.
  void start();
  Task<> stop();

  Task<KnowledgeOverview> overview(KnowledgeFilter filter);
  /// By slug.
  Task<std::vector<KnowledgePage>> pages(KnowledgeFilter filter);
  /// Best first. Throws BadRequest `q is required` for an empty question; what has no word in it finds nothing.
  Task<std::vector<KnowledgeHit>> search(KnowledgeQuery query);
  /// The same in the shared pages and the agent's own.
  Task<std::vector<KnowledgeHit>> search_for_agent(AgentKnowledgeSearch wanted);
  /// The shared page of that slug, else another, unless the filter names its scope. Throws NotFound `article not
  /// found`.
  Task<Article> article(std::string slug, KnowledgeFilter filter);
  Task<KnowledgeStats> stats();
  Task<KnowledgeHealth> health();
  /// Newest first.
  Task<std::vector<KnowledgeEvent>> journal(KnowledgeLogQuery query);

  /// Makes pages of what is new or has changed among the raw sources, and notes it in the log. Gives what was done, for
  /// people; where a model is configured, it sums up the new pages in the background.
  Task<std::string> compile(bool dry, StopSource& stop);

  /// Keeps the text among the agent's raw sources, in the place of what was kept from the same origin before, and makes
  /// its page. Throws PayloadTooLarge `source too large`.
  Task<IngestedSource> ingest(NewSource source);

  /// In the order in which they became known.
  Task<std::vector<Entity>> entities(EntityQuery query);
  /// Throws NotFound `entity not found`.
  Task<Entity> entity(std::string id);

private:
  Task<std::vector<KnowledgeHit>> find(std::string question, knowledge_search_store::PageSearch search);
  Task<> read_at_start();
  Task<> note_summaries(std::vector<std::string> slugs);
  Task<> note(KnowledgeEvent event);
  Task<std::vector<FoundKnowledgeFile>> sources();

  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  PageIndex index_;
  KnowledgeCompiler compiler_;
  PageSummaries summaries_;
  AsyncMutex mutex_;  ///< to the log, which is read and written in one go
  TaskGroup background_;
};

}  // namespace agw
