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

/// Has the model sum up compiled pages, behind everybody's back: a page has the first sentences of its source until
/// then. Each content is summed up once, at most 50 in a pass, the newest first, and the third failure ends a pass.
/// What the source says is material for the model, and what the model says becomes plain text on one line.
class PageSummaries {
public:
  /// `done` is told of the slugs of the pages that a pass gave a summary.
  PageSummaries(Loop& loop, BlockingPool& blocking, Database& database, KnowledgeCompiler& compiler,
                std::shared_ptr<const KnowledgeTree> tree, BackgroundCompletions& completions,
                std::function<Task<>(std::vector<std::string> slugs)> done);

  /// Begins a pass in the background; while one is under way, another follows it.
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
  std::set<std::string> failed_;  ///< paths of sources that the next pass leaves out
  bool at_work_ = false;
  bool wanted_ = false;
  StopSource stopping_;
  TaskGroup background_;
};

}  // namespace agw
