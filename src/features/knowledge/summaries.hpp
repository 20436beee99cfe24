#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/knowledge/compile.hpp"

namespace agw {

/// What knowledge asks of rooms that it cannot see.
struct KnowledgeLinks {
  /// Has the default model answer `request` under `instructions`; nothing where none is configured, the budget is used
  /// up, or it fails. Empty: there is no model.
  std::function<Task<std::optional<std::string>>(std::string instructions, std::string request, Stop& stop)> write;
};

/// Has the model sum up compiled pages, behind everybody's back: a page has the first sentences of its source until
/// then. Each content is summed up once, at most 50 in a pass, the newest first, and the third failure ends a pass.
/// What the source says is material for the model, and what the model says becomes plain text on one line.
class PageSummaries {
public:
  /// `done` is told of the slugs of the pages that a pass gave a summary.
  PageSummaries(Loop& loop, BlockingPool& blocking, Database& database, KnowledgeCompiler& compiler,
                std::shared_ptr<const KnowledgeTree> tree, KnowledgeLinks links,
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
  const KnowledgeLinks links_;
  const std::function<Task<>(std::vector<std::string>)> done_;
  std::set<std::string> failed_;  ///< paths of sources that the next pass leaves out
  bool at_work_ = false;
  bool wanted_ = false;
  Stop stopping_;
  Group background_;
};

}  // namespace agw
