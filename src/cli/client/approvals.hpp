#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>

#include "base/async/task_group.hpp"
#include "cli/client/asker.hpp"
#include "cli/client/client.hpp"

namespace agw::cli {

/// The requests of a thread while its answer is followed: each is put to the person once, one after another, and what
/// the person decides is sent. What is decided elsewhere is no longer asked. On the loop.
class Approvals {
public:
  /// The references must outlive this.
  Approvals(Loop& loop, const Client& client, Asker& asker, std::string thread_id);

  /// Handles an event of the WebSocket. Events of other types are ignored.
  void take(const json::object& event);
  /// Takes up the requests that the gateway has waiting: after connecting.
  Task<> read();
  /// Ends: nothing is asked any more. Throws why a decision could not be sent.
  Task<> stop();

private:
  struct Waiting {
    json::object request;
    StopSource over;
    json::object outcome;
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
