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

class BlockingPool;
class Threads;
class ToolSet;
struct Tool;
struct Route;

/// A search by an agent.
struct AgentKnowledgeSearch {
  std::string question;
  std::string agent_name;
  TermsWanted wanted = TermsWanted::any;
  std::size_t limit = 10;
};

/// A text to store as a raw source.
struct NewSource {
  std::string agent_name;  ///< the agent that will own it
  std::string name;        ///< of the file, with an extension unless it is Markdown; converted to a slug
  std::string title;       ///< empty: derived from the text
  std::string origin;      ///< an address, a path or a thread
  std::string text;        ///< UTF-8
};

/// The result of an ingestion.
struct IngestedSource {
  std::string path;     ///< of the raw file, relative to the data directory
  std::string slug;     ///< of its page; empty if it cannot become one
  std::string problem;  ///< the reason, if there is no page
};

/// The knowledge of the agents and of the person: pages in Markdown files, compiled from raw sources or written by
/// hand. Every response reflects the current files.
///
/// Knowledge itself needs models, costs and threads, so it has no unit test: tests/api/test_knowledge.py shows its use.
/// Its parts have unit tests.
class Knowledge {
public:
  Knowledge(Loop& loop, BlockingPool& blocking, Database& database, const Clock& clock,
            std::filesystem::path data_directory, BackgroundCompletions& completions, bool others_write);

  /// Starts to index changes that were made while the gateway was not running.
  void start();
  Task<> stop();

  /// For PostgreSQL, which has no trigger that updates the index: indexes the pages whose rows were copied from another
  /// database.
  static void rebuild_index(Connection& connection);

  Task<KnowledgeOverview> overview(KnowledgeFilter filter);
  /// Sorted by slug.
  Task<std::vector<KnowledgePage>> pages(KnowledgeFilter filter);
  /// The links from pages of the filter's scope to existing pages.
  Task<std::vector<KnowledgeLink>> links(KnowledgeFilter filter);
  /// Best first. Throws BadRequest `q is required` for an empty question; a question without words finds nothing.
  Task<std::vector<KnowledgeHit>> search(KnowledgeQuery query);
  /// The same, in the shared pages and the agent's pages.
  Task<std::vector<KnowledgeHit>> search_for_agent(AgentKnowledgeSearch wanted);
  /// The shared page of that slug, else another, unless the filter names a scope. Throws NotFound `article not found`.
  Task<Article> article(std::string slug, KnowledgeFilter filter);
  Task<KnowledgeStats> stats();
  Task<KnowledgeHealth> health();
  /// Newest first.
  Task<std::vector<KnowledgeEvent>> journal(KnowledgeLogQuery query);

  /// Compiles new and changed raw sources into pages, and adds an entry to the log. Returns a report in Markdown. If a
  /// model is configured, it summarises the new pages in the background.
  Task<std::string> compile(bool dry, StopSource& stop);

  /// Stores the text as one of the agent's raw sources, replacing an earlier one of the same origin, and compiles its
  /// page. Throws PayloadTooLarge `source too large`.
  Task<IngestedSource> ingest(NewSource source);

  /// Entities in the order in which they were added.
  Task<std::vector<Entity>> entities(EntityQuery query);
  /// Throws NotFound `entity not found`.
  Task<Entity> entity(std::string id);

  /// The threads on which large responses are written.
  BlockingPool& blocking() { return blocking_; }

private:
  Task<std::vector<KnowledgeHit>> find(std::string question, knowledge_search_store::PageSearch search);
  Task<> read_at_start();
  Task<> log_summaries(std::vector<std::string> slugs);
  Task<> log_event(KnowledgeEvent event);
  Task<std::vector<FoundKnowledgeFile>> sources();

  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  PageIndex index_;
  KnowledgeCompiler compiler_;
  PageSummaries summaries_;
  AsyncMutex mutex_;  ///< makes each read and write of the log atomic
  TaskGroup background_;
};

/// The endpoints `/knowledge` and `/entities`.
std::vector<Route> knowledge_routes(Knowledge& knowledge);

/// The tools SearchKnowledge and Ingest; the latter fetches web pages with the WebFetch of `tools`. The references must
/// outlive the tools.
std::vector<Tool> knowledge_tools(Knowledge& knowledge, Threads& threads, BlockingPool& blocking, const ToolSet& tools);

}  // namespace agw
