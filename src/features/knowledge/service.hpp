#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/group.hpp"
#include "features/knowledge/page_index.hpp"
#include "features/knowledge/types.hpp"

namespace agw {

/// What the gateway's agents and its person know: pages in Markdown files, compiled from raw sources or written by
/// hand. Whatever is asked, the answer is as new as the files.
class Knowledge {
public:
  Knowledge(Loop& loop, BlockingPool& blocking, Database& database, std::filesystem::path data_directory);

  /// Begins to read what has changed while the gateway was down.
  void start();
  Task<> stop();

  Task<KnowledgeOverview> overview(KnowledgeFilter filter);
  /// By slug.
  Task<std::vector<KnowledgePage>> pages(KnowledgeFilter filter);
  /// Best first. Throws BadRequest `q is required` for an empty question; what has no word in it finds nothing.
  Task<std::vector<KnowledgeHit>> search(KnowledgeQuery query);
  /// The same in the shared pages and those of one scope.
  Task<std::vector<KnowledgeHit>> search_for_agent(std::string question, std::string agent_name, int limit);
  /// The shared page of that slug, else another, unless the filter names its scope. Throws NotFound `article not
  /// found`.
  Task<Article> article(std::string slug, KnowledgeFilter filter);
  Task<KnowledgeStats> stats();
  Task<KnowledgeHealth> health();
  /// Newest first.
  Task<std::vector<KnowledgeEvent>> journal(KnowledgeLogQuery query);

  /// In the order in which they became known.
  Task<std::vector<Entity>> entities(EntityQuery query);
  /// Throws NotFound `entity not found`.
  Task<Entity> entity(std::string id);

private:
  Task<std::vector<KnowledgeHit>> find(std::string question, std::vector<std::string> scopes, int limit);
  Task<> read_at_start();
  Task<std::vector<FoundKnowledgeFile>> sources();

  BlockingPool& blocking_;
  Database& database_;
  PageIndex index_;
  Group background_;
};

}  // namespace agw
