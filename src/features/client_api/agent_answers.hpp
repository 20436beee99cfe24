#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.hpp"
#include "features/attachments/service.hpp"
#include "features/client_api/agent_run.hpp"
#include "features/client_api/answer_writer.hpp"
#include "features/client_api/conversations.hpp"
#include "features/client_api/types.hpp"
#include "features/engine/service.hpp"

namespace agw {

/// The run that answers a request, and its thread.
struct StartedRun {
  std::shared_ptr<AgentRun> run;
  std::string thread_id;
};

/// Has agents answer programs: finds the thread, starts the run, or gives a waiting one what the program's tools
/// returned.
class AgentAnswers {
public:
  AgentAnswers(Loop& loop, Database& database, Threads& threads, Runs& runs, Attachments& attachments, Engine& engine);

  /// Throws ApiError 404 for an unknown thread, 409 for one of another agent.
  Task<StartedRun> start(ExtensionPointer agent, ClientRequest& request);

  /// Stores what the next request of the program continues, once the run has ended.
  Task<> settle(std::shared_ptr<AgentRun> run);
  /// The same for a run that goes on without its program.
  void settle_later(std::shared_ptr<AgentRun> run);

  Task<> stop();

private:
  struct Place {
    std::optional<std::string> thread_id;
    std::size_t stored = 0;  ///< of the messages: those that the thread has
    bool is_whole = true;    ///< the messages are the whole thread
  };

  std::optional<StartedRun> resume(const ClientRequest& request);
  Task<Place> find_place(const Extension& agent, const ClientRequest& request, std::size_t question);
  Task<std::string> import(const Extension& agent, const ClientRequest& request, std::size_t question);
  Task<std::vector<std::string>> store_pictures(const std::vector<Message>& messages, std::size_t question);
  Task<> settle_at_end(std::shared_ptr<AgentRun> run);
  Task<> end_waiting_run(std::string thread_id);

  Loop& loop_;
  Threads& threads_;
  Runs& runs_;
  Attachments& attachments_;
  Engine& engine_;
  ContinuedThreads continued_;
  std::vector<std::pair<std::string, std::weak_ptr<AgentRun>>> open_;  ///< by thread
  TaskGroup storing_;
};

}  // namespace agw
