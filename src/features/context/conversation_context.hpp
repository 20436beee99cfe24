#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "features/threads/service.hpp"
#include "storage/database.hpp"

namespace agw {

/// The part of a conversation that fits a model: all of it, or a summary of the older turns and the newer turns in
/// full.
struct ConversationContext {
  std::string summary;  ///< of the older turns; empty: none
  std::vector<Turn> turns;
};

/// Summarises the `older` turns together with the `earlier` summary of the turns before them. Returns no value if
/// stopped.
using Summarise = std::function<Task<std::optional<std::string>>(std::string earlier, std::vector<Turn> older)>;

/// How to load a conversation.
struct ContextRequest {
  std::string question_id;    ///< the user turn to answer; the last one that is loaded
  std::size_t max_bytes = 0;  ///< of the summary and the turns together
  Summarise summarise;
  bool stores_summary = true;  ///< for later runs
};

/// Loads the conversation up to the question. If it does not fit, older turns are replaced by a summary, which is
/// stored and announced. Throws NotFound `thread not found`, `turn not found`.
Task<ConversationContext> load_context(Database& database, const Clock& clock, Threads& threads, std::string thread_id,
                                       ContextRequest request);

}  // namespace agw
