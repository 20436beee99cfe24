#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>

#include "base/async/task_group.hpp"
#include "cli/client/asker.hpp"
#include "cli/client/client.hpp"

namespace agw::cli {

/// The permission requests of a thread while its answer is followed. Asks the person about each once, one after
/// another, and sends the decisions. Requests decided by other clients are dropped. Use it on the loop only.
class Approvals {
public:
  /// The references must outlive this object.
  Approvals(Loop& loop, const Client& client, Asker& asker, std::string thread_id);

  /// Handles an event from the WebSocket. Ignores events of other types.
  void take(const json::object& event);
  /// Reads the pending requests from the gateway. Call it after connecting.
  Task<> read();
  /// Stops asking. Throws if a decision could not be sent.
  Task<> stop();

private:
  struct Waiting {
    json::object request;
    StopSource over;
    json::object outcome;
    bool is_open = false;  ///< the person is asked, and has not answered
  };

  void add(const json::object& request);
  void close(const json::object& event);
  Task<> ask_all();
  Task<> ask(Waiting& waiting);

  const Client& client_;
  Asker& asker_;
  const std::string thread_id_;
  std::set<std::string> known_;
  std::deque<std::shared_ptr<Waiting>> waiting_;
  bool is_asking_ = false;
  bool is_stopped_ = false;
  TaskGroup group_;
};

}  // namespace agw::cli
