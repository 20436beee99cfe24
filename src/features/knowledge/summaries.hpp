#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/costs/background_completions.hpp"
#include "features/knowledge/compile.hpp"

namespace agw {

/// Lets a model summarise compiled pages in the background; until then, a page shows the first sentences of its source.
/// Each version of a source is summarised once. A pass summarises at most 50, newest first, and ends at the third
/// failure. The source is data for the model, not instructions, and the model's text is reduced to plain text on one
/// line.
class PageSummaries {
public:
  /// `done` receives the slugs of the pages that a pass summarised.
  PageSummaries(Loop& loop, BlockingPool& blocking, Database& database, KnowledgeCompiler& compiler,
                std::shared_ptr<const KnowledgeTree> tree, BackgroundCompletions& completions,
                std::function<Task<>(std::vector<std::string> slugs)> done);

  /// Starts a pass in the background, or another one after the active pass.
  void begin();
  Task<> stop();

private:
  Task<> work();
  Task<> pass();

  BlockingPool& blocking_;
  Database& database_;
  KnowledgeCompiler& compiler_;
  const std::shared_ptr<const KnowledgeTree> tree_;
  BackgroundCompletions& completions_;
  const std::function<Task<>(std::vector<std::string>)> done_;
  std::set<std::string> failed_;  ///< paths of sources that the next pass skips
  bool at_work_ = false;
  bool requested_ = false;
  StopSource stopping_;
  TaskGroup background_;
};

}  // namespace agw
