#pragma once

#include <optional>
#include <set>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "features/extensions/types.hpp"
#include "features/threads/service.hpp"

namespace agw {

class Database;

/// Where the output of jobs goes: with an owner to that agent's thread that changed last and is not archived, else to a
/// thread of the job's own, which is used again. Where there is none it is made.
class JobThreads {
public:
  JobThreads(Loop& loop, Database& database, Threads& threads) : loop_(loop), database_(database), threads_(threads) {}

  /// The id of the thread. `agent_id` and `owner_id` are ids of agents.
  Task<std::string> choose(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id);

private:
  Task<std::optional<std::string>> latest_of(std::string owner_id);
  Task<std::optional<std::string>> own_of(std::string job_id);
  Task<std::string> make(ExtensionPointer job, std::string agent_id, std::optional<std::string> owner_id);

  Loop& loop_;
  Database& database_;
  Threads& threads_;
  std::set<std::string> making_;  ///< owners and jobs whose thread is being made, so that two runs make one
  asio::steady_timer made_{loop_, asio::steady_timer::time_point::max()};
};

}  // namespace agw
