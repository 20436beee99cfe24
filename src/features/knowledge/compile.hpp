#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/knowledge/async_mutex.hpp"
#include "features/knowledge/page_index.hpp"
#include "features/knowledge/source_store.hpp"

namespace agw {

/// The result of a compilation. Pages are named by their slugs, sources by their paths.
struct CompileReport {
  std::vector<std::string> made;
  std::vector<std::string> changed;
  std::vector<std::string> kept;      ///< not updated although their sources changed, because a person changed them
  std::vector<std::string> unusable;  ///< sources that cannot become pages, each with the reason
  std::size_t sources = 0;
  bool stopped = false;
  bool dry = false;

  bool anything() const { return !made.empty() || !changed.empty() || !kept.empty() || !unusable.empty(); }
};

/// The report in Markdown.
std::string report_text(const CompileReport& report);
/// One line: `3 made, 1 changed, 0 kept`.
std::string report_title(const CompileReport& report);

/// Compiles raw sources into pages, without a model. A source is read if its file has changed since it was last read; a
/// page is written if its source has new content. Pages that a person wrote or changed are never overwritten.
class KnowledgeCompiler {
public:
  KnowledgeCompiler(BlockingPool& blocking, Database& database, const Clock& clock, PageIndex& index);

  /// Runs one compilation at a time; further calls wait. When it returns, the index contains the pages. A stop takes
  /// effect between batches, so no page is left incomplete.
  Task<CompileReport> compile(bool dry, StopSource& stop);

  /// Stores the result of summarising the source at `path`, and writes the summary into its page, unless the source no
  /// longer has the content id `content`, or the page has changed. `summary` has no value if the page needs none.
  Task<> take_summary(std::string path, std::string content, std::optional<std::string> summary);

private:
  struct Plan;
  struct Outcome;
  Task<std::shared_ptr<Plan>> plan();
  static Outcome compile_some(const KnowledgeTree& tree, Plan& plan, std::size_t begin, bool dry, Timestamp now);
  Task<CompileReport> compile_all(bool dry, StopSource& stop);
  Task<> put(std::vector<source_store::KnownSource> rows);

  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  PageIndex& index_;
  AsyncMutex mutex_;
};

}  // namespace agw
