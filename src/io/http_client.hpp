#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cut.hpp"
#include "base/task.hpp"

namespace agw {

class HttpMulti;

/// A header line, of a request or an answer.
struct HttpHeader {
  std::string name;  ///< of an answer: in lower case
  std::string value;

  bool operator==(const HttpHeader&) const = default;
};

/// What to ask of another server. Redirects are not followed, cookies not kept.
struct HttpRequest {
  std::string method = "GET";
  std::string url{};  ///< http or https
  std::vector<HttpHeader> headers{};
  std::string body{};
  std::chrono::milliseconds connect_limit{10'000};  ///< name resolution and TLS included
  /// How long nothing may pass in either direction before the connection counts as broken.
  std::chrono::milliseconds silence_limit{120'000};
  std::size_t max_body_bytes = 64 * 1024 * 1024;  ///< of the answer
  /// Connects to no address but those of the public internet. What is looked at is the address that the socket is
  /// opened for, on a connection of its own, without any proxy: there is nothing between the check and the connection.
  bool public_only = false;
};

/// The head of an answer.
struct HttpHead {
  int status = 0;
  std::vector<HttpHeader> headers;

  /// The value of the first header of that name (given in lower case).
  std::optional<std::string_view> header(std::string_view name) const;
};

/// How an exchange ended.
struct HttpOutcome {
  enum class End {
    complete,   ///< the whole answer has come, or as much of it as `on_body` wished for
    broken,     ///< no connection, or one that ended too early; also an answer that is no HTTP
    silent,     ///< connected, then nothing for `silence_limit`
    too_large,  ///< a head over 64 KiB or a body over `max_body_bytes`
    stopped,    ///< the caller's Stop
  };
  End end = End::broken;
  HttpHead head{};                ///< status 0 where no answer had begun
  std::string error{};            ///< for people, empty where complete; holds nothing of the request but its host
  std::string refused_address{};  ///< that was not connected to, because it is not one of the public internet
};

/// What the reader of a body wants after a piece of it.
enum class BodyWish {
  more,
  enough,   ///< the answer is complete in itself: its end is awaited only briefly, so that the connection can be reused
  abandon,  ///< it is of no use: the connection is closed
};

/// Called on the loop for each piece of a body as it arrives. What it throws leaves `HttpClient::send`.
using OnBody = std::function<BodyWish(const HttpHead& head, std::string_view bytes)>;

/// Speaks HTTP/1.1 to other servers, on the loop. Proxies are those of the usual environment variables. Connections are
/// reused (but for `public_only`); one whose exchange is stopped or fails is closed. libcurl does the work: it is
/// loaded with the first request, because loading it takes as long as the rest of the start, and only this class knows
/// of it.
class HttpClient {
public:
  explicit HttpClient(Loop& loop);
  /// No `send` may be under way.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends `request` and hands the body of the answer, whatever its status, to `on_body`. Never throws for what the
  /// network does. `stop` closes the connection at once.
  Task<HttpOutcome> send(HttpRequest request, OnBody on_body, Stop& stop);

private:
  Loop& loop_;
  std::shared_ptr<HttpMulti> multi_;
};

}  // namespace agw
