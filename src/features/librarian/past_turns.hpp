#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "features/librarian/types.hpp"
#include "features/threads/types.hpp"

namespace agw {

/// The turns of an agent's threads as a source: the texts of people and models. Excludes the librarian's answers, tool
/// outputs, superseded turns, and questions for the same words.
class PastTurns : public LibrarySource {
public:
  using Search = std::function<Task<std::vector<FoundTurn>>(TurnSearch wanted)>;
  using RequireThread = std::function<Task<Thread>(std::string id)>;

  /// The arguments are `Threads::search` and `Threads::require`.
  PastTurns(Search search, RequireThread require_thread);

  std::string name() const override;
  Task<std::vector<Passage>> find(LibraryQuestion question) override;

private:
  /// Returns nullopt if the thread was deleted in the meantime.
  Task<std::optional<Passage>> passage_of(const FoundTurn& turn, bool of_this_thread);
  /// Returns the thread's title and id for a quotation; empty if it does not exist.
  Task<std::string> place(std::string thread_id);

  Search search_;
  RequireThread require_thread_;
};

}  // namespace agw
