#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "features/threads/service.hpp"
#include "storage/database.hpp"

namespace agw {

/// What of a conversation a model is shown: all of it, or a summary of its older turns and the newer ones as they
/// stand.
struct Recalled {
  std::string summary;  ///< of the turns before; empty where there is none
  std::vector<Turn> turns;
};

/// Sums up turns, and what an earlier summary said of those before. Nothing where it was stopped.
using Summarise = std::function<Task<std::optional<std::string>>(std::string earlier, std::vector<Turn> older)>;

/// How to recall a conversation.
struct Recollection {
  std::string question_id;  ///< its turn is the last
  std::size_t most = 0;     ///< in bytes
  Summarise summarise;
  bool keeps_summary = true;  ///< for later answers
};

Task<Recalled> recall(Database& database, const Clock& clock, Threads& threads, Thread thread,
                      Recollection recollection);

/// A fork goes on from the summary of what it has copied.
void keep_summary_in_fork(Connection& connection, const Fork& fork, Timestamp now);

}  // namespace agw
