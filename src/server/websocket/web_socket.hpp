#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/response.hpp"
#include "base/async/task_group.hpp"
#include "features/events/domain_event.hpp"
#include "server/http/socket_stream.hpp"
#include "server/websocket/frame_queue.hpp"
#include "server/websocket/websocket_frame.hpp"

namespace agw {

class Gate;
struct Route;
struct Head;
struct Target;
class WebSocket;

/// Flushes sockets once per turn of the loop, so that the events of one turn are sent together.
class WebSocketFlusher {
public:
  explicit WebSocketFlusher(Loop& loop) : loop_(loop) {}
  void flush_later(WebSocket& socket);
  void forget(WebSocket& socket);

private:
  void flush();
  Loop& loop_;
  std::vector<WebSocket*> waiting_;
  bool posted_ = false;
};

/// An open WebSocket: frames, pings, the closing handshake, and a bounded queue of messages to the client. Derived
/// classes interpret the messages.
class WebSocket {
public:
  /// The maximum number of bytes queued for a client; above it, the socket is closed with 1013.
  static constexpr std::size_t queue_limit = 8 * 1024 * 1024;

  /// `message_limit` is the maximum size of a client's message in bytes.
  WebSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher,
            std::size_t message_limit = websocket::FrameReader::default_limit);
  virtual ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  /// Serves the connection until it is closed. `first_bytes` were received together with the upgrade request.
  virtual Task<> serve(std::string first_bytes) = 0;

  /// Queues a close frame; the connection ends when the client has responded, or after 10 seconds.
  void close(websocket::CloseCode code, std::string_view reason);

  /// Called once a second: pings an idle client, and aborts one that does not complete the closing handshake.
  void sweep(SocketStream::TimePoint now);

  /// Sends as many queued frames as possible without waiting, and the rest in the background.
  void flush();

  /// Ends the connection immediately; queued frames are lost.
  void abort();

protected:
  /// Reads frames until the connection is closed, then waits until the queue was sent.
  Task<> run(std::string first_bytes);
  /// Queues a message, unless the socket is closing.
  void queue_text(std::string_view text);
  void queue_text(SharedMessage text);
  /// Queues a message whose pieces are made on demand. At most one may be queued at a time.
  void queue_text(std::unique_ptr<LongText> text);
  bool closing() const { return closing_; }
  /// Starts a coroutine that `run` joins.
  void spawn(Task<> task) { writers_.spawn(std::move(task)); }

private:
  /// Called for each message from the client.
  virtual void received(std::string text) = 0;
  /// Waits until further messages can be handled.
  virtual Task<> ready_for_more() { co_return; }
  /// Called when no more messages are sent or received.
  virtual void closed() {}

  void assert_invariants() const;
  std::size_t bytes_in_queue() const;
  void queue(QueuedFrame frame);
  void append(QueuedFrame frame);
  std::size_t backlog() const;
  bool has_unsent() const;
  bool is_behind() const;
  void make_next_piece();
  /// Writes as much as the socket accepts, up to a limit.
  void write_part();
  /// Writes the excess over `queue_limit`, as far as the socket accepts it.
  void make_room();
  void close_slow_reader();
  void take(websocket::Incoming incoming);
  Task<> wait_for_reader();
  bool write_once();
  void drop_written(std::size_t count);
  Task<> write_rest();

  TaskGroup writers_;
  SocketStream& stream_;
  WebSocketFlusher& flusher_;
  websocket::FrameReader frames_;
  FrameQueue queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t front_written_ = 0;
  std::optional<SocketStream::TimePoint> close_deadline_;
  SocketStream::TimePoint last_ping_ = std::chrono::steady_clock::now();
  bool closing_ = false;
  bool done_reading_ = false;
  bool broken_ = false;
  bool writing_ = false;
  bool has_long_text_ = false;  ///< in the queue
};

/// Handles a WebSocket handshake (RFC 6455, 4.2) whose host and origin were checked: returns the bytes of the response
/// that opens it, or an error. `route` is the route at the path, or null.
std::variant<std::string, Response> open_websocket(const Head& head, const Target& target, const Gate& gate,
                                                   const Route* route);

}  // namespace agw
