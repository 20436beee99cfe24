#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "io/http/checked_socket.hpp"
#include "io/http/http_client.hpp"
#include "io/http/http_multi.hpp"

namespace agw {

/// An account at a mail server.
struct MailServer {
  /// `imaps://host:port` and `smtps://host:port` use TLS from the start, `imap://` and `smtp://` use STARTTLS, which
  /// the server must offer unless it is on this machine.
  std::string url;
  std::string user;
  std::string password;
  AddressRule rule{};
};

/// A failed connection. The message is for people and never contains the password.
class MailError : public std::runtime_error {
public:
  enum class Kind {
    broken,    ///< a later attempt may succeed
    refused,   ///< the server rejects user or password
    stopped,   ///< the caller requested stop
    rejected,  ///< the server rejected one command; the connection still works
  };

  MailError(Kind why, const std::string& message) : std::runtime_error(message), kind(why) {}

  const Kind kind;
};

/// A connection to an IMAP or SMTP server on the loop. libcurl connects, checks the certificate and logs in; the caller
/// sends the commands. One caller at a time. Functions throw MailError.
/// Example: src/io/mail/mail_connection_test.cpp: MailConnection.LogsInAndPassesLinesOn
class MailConnection final : private CurlTransfer {
public:
  explicit MailConnection(HttpClient& http);
  /// Closes the connection.
  ~MailConnection();
  MailConnection(const MailConnection&) = delete;
  MailConnection& operator=(const MailConnection&) = delete;

  /// Connects and logs in. Call it once.
  Task<> open(MailServer server, StopSource& stop);

  /// Reads the next line, of at most 1 MiB, without its line end.
  Task<std::string> read_line(StopSource& stop);
  /// The same; nullopt if no data arrives within `limit`.
  Task<std::optional<std::string>> read_line_within(std::chrono::milliseconds limit, StopSource& stop);
  /// Reads exactly `count` bytes.
  Task<std::string> read_bytes(std::size_t count, StopSource& stop);
  Task<> write(std::string bytes, StopSource& stop);

private:
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);

  CURL* easy() override { return easy_; }
  void deliver() override {}
  void finished(CURLcode code) override;
  void not_added(std::string why) override;

  template <class Value>
  void set(CURLoption option, Value value);
  void set_options();
  std::string describe(CURLcode code) const;
  /// Reads the available bytes; waits if there are none. Returns whether any arrived within `limit`.
  Task<bool> fill(std::chrono::milliseconds limit, StopSource& stop);
  Task<WaitResult> wait(asio::posix::descriptor_base::wait_type what, std::chrono::milliseconds limit,
                        StopSource& stop);
  std::string take(std::size_t count);
  std::string_view unread() const { return std::string_view(buffer_).substr(begin_); }

  HttpClient& http_;
  const Curl* curl_ = nullptr;  ///< set by `open`, like the next members
  std::shared_ptr<HttpMulti> multi_;
  MailServer server_;
  CURL* easy_ = nullptr;
  bool added_ = false;
  std::array<char, CURL_ERROR_SIZE> error_buffer_{};
  std::string refused_address_;
  std::string problem_;  ///< why libcurl could not start
  CURLcode result_ = CURLE_OK;
  std::optional<AsyncEvent> connected_;
  std::optional<asio::posix::stream_descriptor> socket_;  ///< libcurl's socket, for waiting only
  std::string buffer_;
  std::size_t begin_ = 0;  ///< start of the unread bytes
};

}  // namespace agw
