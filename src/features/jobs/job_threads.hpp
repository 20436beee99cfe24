#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/async/async_event.hpp"
#include "features/extensions/types.hpp"
#include "features/threads/service.hpp"

namespace agw {

class Database;

/// Chooses the thread for a job's output. If the job has an owner: that agent's most recently changed thread that is
/// not archived. Otherwise the job's own thread. Creates the thread if there is none.
class JobThreads {
public:
  JobThreads(Loop& loop, Database& database, Threads& threads) : loop_(loop), database_(database), threads_(threads) {}

  /// Returns the id of the thread. `agent_id` and `owner_id` are ids, not names.
  Task<std::string> choose(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id);

private:
  Task<std::optional<std::string>> latest_of(std::string owner_id);
  Task<std::optional<std::string>> own_of(std::string job_id);
  Task<std::string> make(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id);

  Loop& loop_;
  Database& database_;
  Threads& threads_;
  std::set<std::string> making_;  ///< owners and jobs whose thread is being created, so that two runs create only one
  AsyncEvent made_{loop_};
};

}  // namespace agw
