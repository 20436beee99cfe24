#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/proxy_stream.hpp"
#include "base/async/task_group.hpp"
#include "features/client_api/event_sender.hpp"

namespace agw {

/// The connection of a program that waits for an answer. Await `close` before destroying it.
class ClientConnection {
public:
  /// If `outlives_program`, `disconnected` is not requested when the program disconnects.
  ClientConnection(Loop& loop, ResponseStream& stream, bool outlives_program = false);

  /// Requested once the program has disconnected, or the connection must end.
  StopSource& disconnected() { return disconnected_; }

  /// Makes the response a stream of events.
  void begin_events(std::function<std::string()> keep_alive, const Fields& fields = {});
  void send_event(std::string_view bytes);
  /// Whether a part of a stream has been sent or queued.
  bool begun() const { return sender_ && sender_->begun(); }

  /// Waits until the program has received all events or has disconnected.
  Task<> close();

private:
  Loop& loop_;
  ResponseStream& stream_;
  StopSource disconnected_;
  StopSource::Listener when_stopped_;
  TaskGroup watching_;
  TaskGroup sending_;
  std::unique_ptr<EventSender> sender_;
};

}  // namespace agw
