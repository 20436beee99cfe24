#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/proxy_stream.hpp"
#include "base/async/task_group.hpp"
#include "features/client_api/event_sender.hpp"

namespace agw {

/// A program that waits for an answer. Await `close` before it is destroyed.
class ClientConnection {
public:
  /// With `outlives_program`, a disconnect of the program does not request `disconnected`.
  ClientConnection(Loop& loop, ResponseStream& stream, bool outlives_program = false);

  /// Requested once the program has disconnected, or its connection has to end.
  StopSource& disconnected() { return disconnected_; }

  /// The response is a stream of events.
  void begin_events(std::function<std::string()> keep_alive, const Fields& fields = {});
  void send_event(std::string_view bytes);
  /// Whether a part of a stream was sent, or is about to be.
  bool begun() const { return sender_ && sender_->begun(); }

  /// Waits until the program has taken all events or is gone.
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
