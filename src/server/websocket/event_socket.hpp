#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/events/hub.hpp"
#include "features/events/subscription.hpp"
#include "server/websocket/web_socket.hpp"

namespace agw {

/// Returns the active runs of other nodes in the threads, as the `runs` of a resume. Empty function without a cluster.
using RunsElsewhere = std::function<Task<json::array>(Subscription::Threads threads)>;

/// Sends a client the events that it subscribed to, in order, and never blocks the publisher.
class EventSocket : public WebSocket, public Subscriber {
public:
  EventSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, Hub& hub,
              Subscription::ActiveRuns active_runs, const RunsElsewhere& runs_elsewhere);
  ~EventSocket() override;

  Task<> serve(std::string first_bytes) override;

  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view) const override { return !closing(); }
  bool is_shown_on(std::string_view device) const override;
  bool answers(std::string_view thread_id) const override { return !closing() && subscription_.answers(thread_id); }
  void add_interests(Interests& interests) const override;

private:
  /// A resume that waits for other nodes. Later messages are held back.
  struct Resume {
    explicit Resume(Loop& loop) : over(loop) {}
    std::vector<std::string> messages;  ///< to the client
    std::vector<SharedMessage> events;
    std::size_t event_bytes = 0;
    AsyncEvent over;
  };

  void received(std::string text) override;
  Task<> ready_for_more() override;
  void closed() override { hub_.interests_changed(); }
  void take(const std::string& text);
  Task<> resume(json::object answer);
  void continue_with(const json::object& answer);
  void hold_back(SharedMessage event);

  Loop& loop_;
  Hub& hub_;
  Subscription subscription_;
  const RunsElsewhere& runs_elsewhere_;  ///< owned by the server
  std::shared_ptr<Resume> resume_;
  std::optional<Hub::Listening> listening_;  ///< set by `serve`
};

}  // namespace agw
