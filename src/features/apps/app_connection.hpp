#pragma once

#include <memory>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "api/exchange.hpp"
#include "base/task.hpp"
#include "features/apps/response_reader.hpp"

namespace agw {

/// A connection to an app's server. One coroutine may read while another sends.
class AppConnection {
public:
  /// Null where nobody takes it.
  static Task<std::unique_ptr<AppConnection>> open(int port);
  explicit AppConnection(asio::ip::tcp::socket socket);

  /// False when the connection broke.
  Task<bool> send(std::string_view bytes);

  /// Reads the head of the next answer, but for interim ones (1xx other than 101); false where none comes.
  Task<bool> read_head(bool without_body);
  const AppResponse& head() const { return reader_.head(); }
  /// The next pieces of the body, views that live until the next call; none at its end.
  Task<const std::vector<std::string_view>*> read_body();
  /// Moves what is left of a large body to the client, where that can be done without reading it.
  Task<> move_body(Exchange& client);
  /// The body came to its end, and not only the connection.
  bool complete() const { return reader_.done(); }
  /// After a 101: what the server sends; empty at the end.
  Task<std::string_view> read_raw();

  /// Ends every wait, now and later.
  void interrupt();
  /// The server has ended the connection and had answered nothing.
  bool closed_unanswered() const { return broken_ && !answered_; }
  /// Nothing was received behind the last answer, and another request can follow.
  bool reusable() const;
  /// The socket, for another request.
  asio::ip::tcp::socket release() { return std::move(socket_); }

private:
  Task<bool> receive();
  std::string_view received() const { return {buffer_.get() + begin_, end_ - begin_}; }

  asio::ip::tcp::socket socket_;
  ResponseReader reader_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool answered_ = false;
  bool broken_ = false;  ///< ended by the server, or on the way to it
  bool ended_ = false;
  bool interrupted_ = false;
};

}  // namespace agw
