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

/// Has the model summarise compiled pages in the background; until then, a page shows the first sentences of its
/// source. Each content is summarised once, at most 50 per pass, newest first; the third failure ends a pass. The
/// source is data for the model, not instructions, and the model's text is reduced to plain text on one line.
class PageSummaries {
public:
  /// `done` receives the slugs of the pages that a pass summarised.
  PageSummaries(Loop& loop, BlockingPool& blocking, Database& database, KnowledgeCompiler& compiler,
                std::shared_ptr<const KnowledgeTree> tree, BackgroundCompletions& completions,
                std::function<Task<>(std::vector<std::string> slugs)> done);

  /// Starts a pass in the background; if one is active, another follows.
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
