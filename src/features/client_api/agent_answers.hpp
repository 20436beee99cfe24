#pragma once

#include <memory>
#include <optional>
#include <span>
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

/// The run that answers a program's request, and its thread.
struct StartedRun {
  std::shared_ptr<AgentRun> run;
  std::string thread_id;
};

/// Has agents answer programs: finds the thread, and starts a run or resumes one that waits for results of the
/// program's tools.
class AgentAnswers {
public:
  AgentAnswers(Loop& loop, Database& database, Threads& threads, Runs& runs, Attachments& attachments, Engine& engine);

  /// Throws ApiError 404 for an unknown thread, 409 for one of another agent.
  Task<StartedRun> start(ExtensionPointer agent, ClientRequest& request);

  /// Stores the hash of the thread's conversation, by which the program's next request finds the thread. Does nothing
  /// if the run has not ended.
  Task<> store_continuation(std::shared_ptr<AgentRun> run);
  /// Calls `store_continuation` in the background once the run has ended, because its program has disconnected.
  void store_continuation_later(std::shared_ptr<AgentRun> run);

  Task<> stop();

private:
  struct FoundThread {
    std::optional<std::string> thread_id;
    bool is_complete = true;  ///< the request contains the whole thread
  };

  Task<std::optional<StartedRun>> resume(ClientRequest& request);
  Task<> steer(const StartedRun& run, ClientRequest& request);
  Task<> add_pictures(ChatMessage& chat, std::span<const Message> messages, const std::vector<std::string>& digests);
  Task<FoundThread> find_thread(const Extension& agent, const ClientRequest& request, std::size_t& question);
  Task<std::optional<std::string>> find_continued(const Extension& agent, const ClientRequest& request,
                                                  std::size_t question);
  Task<std::string> import(const Extension& agent, const ClientRequest& request, std::size_t question);
  Task<std::vector<Attachment>> store_pictures(std::span<const Message> messages);
  Task<> store_continuation_at_end(std::shared_ptr<AgentRun> run);
  Task<> end_waiting_run(std::string thread_id);

  Loop& loop_;
  Threads& threads_;
  Runs& runs_;
  Attachments& attachments_;
  Engine& engine_;
  ContinuedThreads continued_;
  std::vector<std::pair<std::string, std::weak_ptr<AgentRun>>> open_;  ///< by thread
  TaskGroup background_;
};

}  // namespace agw
