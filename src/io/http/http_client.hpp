#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/wait_clock.hpp"

namespace agw {

class HttpMulti;

/// A header line of a request or a response.
struct HttpHeader {
  std::string name;  ///< in lower case in a response
  std::string value;

  bool operator==(const HttpHeader&) const = default;
};

/// A request to another server. Redirects are not followed, cookies not kept.
struct HttpRequest {
  std::string method = "GET";
  std::string url{};  ///< http or https
  std::vector<HttpHeader> headers{};
  std::string body{};
  std::chrono::milliseconds connect_timeout{10'000};  ///< includes name resolution and TLS
  /// How long no byte may pass in either direction before the connection counts as broken.
  std::chrono::milliseconds idle_timeout{120'000};
  const WaitClock* waits = nullptr;               ///< its time does not count for `idle_timeout`; outlives the transfer
  std::size_t max_body_bytes = 64 * 1024 * 1024;  ///< of the response
  /// Connects to public addresses only. The check sees the address that the socket is opened for, on a new connection
  /// without a proxy, so nothing can change between check and connection.
  bool public_only = false;
  /// Connects to no link-local address and no metadata service of a cloud, which gives credentials to anyone who asks.
  bool no_metadata = false;
};

/// The head of a response.
struct HttpHead {
  int status = 0;
  std::vector<HttpHeader> headers;

  /// The value of the first header of that name (in lower case).
  std::optional<std::string_view> header(std::string_view name) const;
};

/// How a request ended.
struct HttpOutcome {
  enum class End {
    complete,   ///< the whole response has arrived, or as much as `on_body` wanted
    broken,     ///< no connection, one that ended too early, or a response that is not HTTP
    silent,     ///< connected, then nothing for `idle_timeout`
    too_large,  ///< a head over 64 KiB or a body over `max_body_bytes`
    stopped,    ///< the caller requested stop
  };
  End end = End::broken;
  HttpHead head{};                ///< status 0 if no response had begun
  std::string error{};            ///< for people, empty if complete; reveals nothing of the request but its host
  std::string refused_address{};  ///< the address that was refused because of `public_only` or `no_metadata`
};

/// The next action that the reader of a body wants.
enum class BodyAction {
  more,
  enough,   ///< the response is complete: waits only briefly for its end, so that the connection can be reused
  abandon,  ///< the rest is not needed: the connection is closed
};

/// Called on the loop for each piece of a body as it arrives. Its exceptions leave `HttpClient::send`.
using OnBody = std::function<BodyAction(const HttpHead& head, std::string_view bytes)>;

/// An HTTP/1.1 client on the loop. Uses the proxies of the usual environment variables. Connections are reused, except
/// for `public_only`; a connection whose request is stopped or fails is closed. Based on libcurl, which only this class
/// knows of; it is loaded with the first request, because loading it takes as long as the rest of the start.
/// Example: src/io/http/http_client_test.cpp: HttpClient.SendsTheRequestAndHandsOverTheAnswer
class HttpClient {
public:
  explicit HttpClient(Loop& loop);
  /// No `send` may be in progress.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends `request` and passes the body of the response, with any status, to `on_body`. Never throws for network
  /// errors. `stop` closes the connection at once.
  Task<HttpOutcome> send(HttpRequest request, OnBody on_body, StopSource& stop);

  /// Runs libcurl's transfers, for other protocols: its certificates are shared. libcurl must be there.
  std::shared_ptr<HttpMulti> multi();

private:
  Loop& loop_;
  std::shared_ptr<HttpMulti> multi_;
};

}  // namespace agw
