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
  /// `imaps://host:port` and `smtps://host:port` with TLS from the start. `imap://` and `smtp://` with STARTTLS, which
  /// the server must offer unless it is this machine.
  std::string url;
  std::string user;
  std::string password;
  AddressRule rule{};
};

/// A connection that failed. The message is for people and never has the password.
class MailError : public std::runtime_error {
public:
  enum class Kind {
    broken,   ///< it may work later
    refused,  ///< the server does not accept user and password
    stopped,  ///< the caller requested stop
  };

  MailError(Kind why, const std::string& message) : std::runtime_error(message), kind(why) {}

  const Kind kind;
};

/// A connection to an IMAP or SMTP server on the loop. libcurl connects, checks the certificate and logs in; the
/// commands are the caller's. One caller at a time. Functions throw MailError.
/// Example: src/io/mail/mail_connection_test.cpp: MailConnection.LogsInAndPassesLinesOn
class MailConnection final : private CurlTransfer {
public:
  explicit MailConnection(HttpClient& http);
  /// Closes the connection.
  ~MailConnection();
  MailConnection(const MailConnection&) = delete;
  MailConnection& operator=(const MailConnection&) = delete;

  /// Connects and logs in. Once.
  Task<> open(MailServer server, StopSource& stop);

  /// The next line, of at most 1 MiB, without its end.
  Task<std::string> read_line(StopSource& stop);
  /// The same; no value if nothing comes for `limit`.
  Task<std::optional<std::string>> read_line_within(std::chrono::milliseconds limit, StopSource& stop);
  /// Exactly so many bytes.
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
  /// Reads what there is; waits for it if there is nothing. Returns whether something came within `limit`.
  Task<bool> fill(std::chrono::milliseconds limit, StopSource& stop);
  Task<WaitResult> wait(asio::posix::descriptor_base::wait_type what, std::chrono::milliseconds limit,
                        StopSource& stop);
  std::string take(std::size_t count);
  std::string_view unread() const { return std::string_view(buffer_).substr(begin_); }

  const Curl* curl_ = nullptr;
  std::shared_ptr<HttpMulti> multi_;
  MailServer server_;
  CURL* easy_ = nullptr;
  bool added_ = false;
  std::array<char, CURL_ERROR_SIZE> error_buffer_{};
  std::string refused_address_;
  std::string problem_;  ///< why libcurl did not even begin
  CURLcode result_ = CURLE_OK;
  std::optional<AsyncEvent> connected_;
  std::optional<asio::posix::stream_descriptor> socket_;  ///< libcurl's, to wait for
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of what is unread
};

}  // namespace agw
