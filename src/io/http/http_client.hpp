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
class TrustedRootsFile;

/// A header line of a request or a response.
struct HttpHeader {
  std::string name;  ///< in lower case in a response
  std::string value;

  bool operator==(const HttpHeader&) const = default;
};

/// A request to another server. Redirects are not followed, cookies are not stored.
struct HttpRequest {
  std::string method = "GET";
  std::string url{};  ///< http or https
  std::vector<HttpHeader> headers{};
  std::string body{};
  std::chrono::milliseconds connect_timeout{10'000};  ///< includes name resolution and TLS
  /// The maximum time without a byte in either direction, after which the connection counts as broken.
  std::chrono::milliseconds idle_timeout{120'000};
  const WaitClock* waits = nullptr;  ///< its time does not count towards `idle_timeout`; must outlive the transfer
  std::size_t max_body_bytes = 64 * 1024 * 1024;  ///< of the response
  /// Connects to public addresses only. Checks the address that a new socket is opened for, without a proxy, so nothing
  /// can change between the check and the connection.
  bool public_only = false;
  /// Does not connect to link-local addresses and cloud metadata services, which give credentials to every client.
  bool no_metadata = false;
};

/// The head of a response.
struct HttpHead {
  int status = 0;
  std::vector<HttpHeader> headers;

  /// The value of the first header with that name (in lower case).
  std::optional<std::string_view> header(std::string_view name) const;
};

/// How a request ended.
struct HttpOutcome {
  enum class End {
    complete,   ///< the response arrived completely, or `on_body` needs no more
    broken,     ///< no connection, a connection that ended early, or a response that is not HTTP
    silent,     ///< no data for `idle_timeout` after connecting
    too_large,  ///< a head over 64 KiB or a body over `max_body_bytes`
    stopped,    ///< the caller requested stop
  };
  End end = End::broken;
  HttpHead head{};                ///< status 0 if no response had begun
  std::string error{};            ///< for people, empty if complete; reveals nothing of the request except its host
  std::string refused_address{};  ///< the address refused because of `public_only` or `no_metadata`
  bool is_lasting = false;        ///< broken for a reason that lasts, such as a certificate that is not trusted
};

/// What to do after a piece of the body.
enum class BodyAction {
  more,
  enough,   ///< the response is complete: waits only briefly for its end, so that the connection can be reused
  abandon,  ///< the rest is not needed: closes the connection
};

/// Called on the loop for each received piece of a body. `HttpClient::send` rethrows its exceptions.
using OnBody = std::function<BodyAction(const HttpHead& head, std::string_view bytes)>;

/// An HTTP/1.1 client on the loop. Uses the proxies from the usual environment variables. Reuses connections, except
/// for `public_only`; closes a connection whose request is stopped or fails. Servers need a certificate of the host's
/// authorities (TrustedRoots). Based on libcurl, which is an implementation detail. libcurl is loaded at the first
/// request, because loading it takes as long as the rest of the start.
/// Example: src/io/http/http_client_test.cpp: HttpClient.SendsTheRequestAndPassesOnTheResponse
class HttpClient {
public:
  explicit HttpClient(Loop& loop);
  /// No `send` may be in progress.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends `request` and passes the body of the response, whatever its status, to `on_body`. Never throws for network
  /// errors. `stop` closes the connection immediately.
  Task<HttpOutcome> send(HttpRequest request, OnBody on_body, StopSource& stop);

  /// Loads libcurl, and for TLS the host's authorities, unless they are loaded already; not on the loop, because both
  /// take tens of milliseconds. Returns why it cannot connect, for people; empty if it can. `send` calls it.
  Task<std::string> prepare(bool uses_tls);

  /// Runs libcurl's transfers, also for other protocols, which share the authorities. Requires a successful `prepare`.
  std::shared_ptr<HttpMulti> multi();

private:
  Loop& loop_;
  std::shared_ptr<HttpMulti> multi_;
  std::shared_ptr<TrustedRootsFile> roots_;
};

}  // namespace agw
