#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "api/proxy_stream.hpp"
#include "base/async/task.hpp"
#include "features/apps/endpoint.hpp"
#include "features/apps/response_reader.hpp"

namespace agw {

/// A connection to an app's server. One coroutine may read while another sends. If the server neither reads nor sends
/// anything for `patience` while data is being sent, the connection is interrupted, because nothing else would end it.
class AppConnection {
public:
  /// Null if the connection is refused.
  static Task<std::unique_ptr<AppConnection>> open(AppEndpoint endpoint, std::chrono::milliseconds patience);
  AppConnection(asio::ip::tcp::socket socket, std::chrono::milliseconds patience);

  /// Returns false if the connection broke.
  Task<bool> send(std::string_view bytes);

  /// Reads the head of the next response, skipping interim ones (1xx other than 101). Returns false if there is none.
  Task<bool> read_head(bool without_body);
  const AppResponse& head() const { return reader_.head(); }
  /// The next pieces of the body, as views that are valid until the next call; empty at the end.
  Task<const std::vector<std::string_view>*> read_body();
  /// Moves the rest of a large body to the client inside the kernel, if that is possible.
  Task<> splice_body(ProxyStream& client);
  /// Whether the body is complete, and not truncated by the end of the connection.
  bool complete() const { return reader_.done(); }
  /// After a 101: the next bytes from the server; empty at the end.
  Task<std::string_view> read_raw();

  /// Ends all current and later waits.
  void interrupt();
  /// Whether the server closed the connection without any response.
  bool closed_without_response() const { return broken_ && !responded_; }
  /// Whether another request can follow: the last response is complete and nothing was received after it.
  bool reusable() const;
  /// Returns the socket, for another request.
  asio::ip::tcp::socket release() { return std::move(socket_); }

private:
  Task<boost::system::error_code> until_writable();
  Task<bool> receive();
  std::string_view received() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void assert_invariants() const;

  asio::ip::tcp::socket socket_;
  const std::chrono::milliseconds patience_;
  ResponseReader reader_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t receptions_ = 0;
  bool is_splicing_ = false;
  bool responded_ = false;
  bool broken_ = false;  ///< closed by the server, or sending has failed
  bool ended_ = false;
  bool interrupted_ = false;
};

}  // namespace agw
