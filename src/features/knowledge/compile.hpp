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

/// What a compilation did. Pages are named by their slugs, sources by their paths.
struct CompileReport {
  std::vector<std::string> made;
  std::vector<std::string> changed;
  std::vector<std::string> kept;      ///< changed by a person since, so left alone; their sources changed
  std::vector<std::string> unusable;  ///< sources that cannot become pages, each with the reason
  std::size_t sources = 0;
  bool stopped = false;
  bool dry = false;

  bool anything() const { return !made.empty() || !changed.empty() || !kept.empty() || !unusable.empty(); }
};

/// For people, in Markdown.
std::string report_text(const CompileReport& report);
/// On one line: `3 pages made, 1 changed`.
std::string report_title(const CompileReport& report);

/// Makes pages of raw sources, without any model. A source is read when its file differs from what was read last, and a
/// page is written when its source says something new. Pages that a person wrote or changed are never touched.
class KnowledgeCompiler {
public:
  KnowledgeCompiler(BlockingPool& blocking, Database& database, const Clock& clock, PageIndex& index);

  /// One at a time: a second one waits. Afterwards the index has the pages. When stopped, what is done is done whole.
  Task<CompileReport> compile(bool dry, StopSource& stop);

  /// Keeps what was found for a source that said `content`, and writes it into its page, unless either says something
  /// else by now. `summary` is nothing where none is wanted.
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
