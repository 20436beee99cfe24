#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/group.hpp"
#include "features/events/hub.hpp"
#include "features/events/subscription.hpp"
#include "server/websocket_frame.hpp"
#include "server/wire.hpp"

namespace agw {

class Socket;

/// Writes what was queued for sockets once per turn of the loop, so that events of one turn leave together.
class SocketFlusher {
public:
  explicit SocketFlusher(Loop& loop) : loop_(loop) {}
  void flush_later(Socket& socket);
  void forget(Socket& socket);

private:
  void flush();
  Loop& loop_;
  std::vector<Socket*> waiting_;
  bool posted_ = false;
};

/// An open WebSocket: hands the client the events it subscribed to, in order, without ever holding up the others.
class Socket : public Reader {
public:
  /// What may wait for a client before it is cut off with 1013.
  static constexpr std::size_t queue_limit = 8 * 1024 * 1024;

  Socket(Loop& loop, Wire& wire, SocketFlusher& flusher, Subscription::RunsUnderWay runs_under_way);
  ~Socket() override;

  /// Serves the connection, whose first bytes may have been read already, until it is closed.
  Task<> run(std::string first_bytes);

  void deliver(const SharedEvent& event) override;

  /// Sends a close frame behind what is queued; the connection ends when the client has answered it, or in time.
  void close(websocket::CloseCode code, std::string_view reason);

  /// Called each second: pings an idle client, and gives up on one that does not answer.
  void sweep(Wire::Moment now);

  /// Writes what is queued, as far as it goes at once.
  void flush();

  /// Ends it without another word: what waits for the client is lost.
  void give_up();

private:
  /// A frame that waits: its header and payload, or all of it in `bytes`.
  struct Piece {
    std::string bytes;
    SharedEvent event;
    std::size_t size() const { return bytes.size() + (event ? event->text.size() : 0); }
  };

  void queue(Piece piece);
  void append(Piece piece);
  std::size_t held_up() const;
  void send_what_goes();
  void cut_off();
  void take(const websocket::Incoming& incoming);
  Task<> let_some_go();
  bool write_once();
  void drop_written(std::size_t count);
  Task<> write_rest();

  Group writers_;
  Wire& wire_;
  SocketFlusher& flusher_;
  Subscription subscription_;
  websocket::FrameReader frames_;
  std::deque<Piece> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t written_of_front_ = 0;
  std::optional<Wire::Moment> close_deadline_;
  Wire::Moment last_ping_ = std::chrono::steady_clock::now();
  bool closing_ = false;
  bool done_reading_ = false;
  bool broken_ = false;
  bool writing_ = false;
};

}  // namespace agw
