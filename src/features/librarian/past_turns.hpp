#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "features/librarian/types.hpp"
#include "features/threads/types.hpp"

namespace agw {

/// The turns of an agent's threads as a source: what people and models said in them, without what the librarian said,
/// tools' outputs, turns that were regenerated away, and questions for the same.
class PastTurns : public LibrarySource {
public:
  using Search = std::function<Task<std::vector<FoundTurn>>(TurnSearch wanted)>;
  using RequireThread = std::function<Task<Thread>(std::string id)>;

  /// `Threads::search` and `Threads::require`.
  PastTurns(Search search, RequireThread require_thread);

  std::string name() const override;
  Task<std::vector<Passage>> find(LibraryQuestion question) override;

private:
  /// Nothing where its thread was deleted meanwhile.
  Task<std::optional<Passage>> passage_of(const FoundTurn& turn, bool of_this_thread);
  /// How people know the thread; empty where there is none.
  Task<std::string> place(std::string thread_id);

  Search search_;
  RequireThread require_thread_;
};

}  // namespace agw
