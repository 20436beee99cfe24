#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/async/task.hpp"
#include "io/http/curl.hpp"
#include "io/tls/trusted_roots.hpp"

namespace agw {

/// A transfer with its own libcurl handle.
class CurlTransfer {
public:
  virtual CURL* easy() = 0;
  /// Called after `mark_ready`, once libcurl has returned.
  virtual void deliver() = 0;
  /// Called when libcurl has finished the transfer.
  virtual void finished(CURLcode code) = 0;
  /// Called if libcurl did not accept the handle.
  virtual void not_added(std::string why) = 0;

protected:
  ~CurlTransfer() = default;
};

/// Runs libcurl's transfers on the loop: waits for its sockets and its timer, and notifies the transfers. Callbacks of
/// callers never run inside libcurl, so they may start and end transfers at any time. The CURLOPT_PRIVATE of each
/// handle is its CurlTransfer.
class HttpMulti : public std::enable_shared_from_this<HttpMulti> {
public:
  HttpMulti(Loop& loop, const Curl& curl);
  ~HttpMulti();
  HttpMulti(const HttpMulti&) = delete;
  HttpMulti& operator=(const HttpMulti&) = delete;

  Loop& loop() { return loop_; }
  const Curl& curl() const { return curl_; }

  /// Whether `trust` should be called before the next connection with TLS: it was not called yet, or an hour ago, or a
  /// certificate was not trusted since, whose authority may have been added.
  bool needs_roots() const;
  void trust(std::shared_ptr<const TrustedRoots> roots);
  /// Has the connections of this handle require a certificate of the authorities of `trust`. Without them, libcurl
  /// reads its own while it connects, which takes 20 ms.
  void set_roots(CURL* easy);

  void add(CurlTransfer& transfer);
  /// Removes the transfer; closes its connection if it is still active.
  void remove(CurlTransfer& transfer);
  /// Called from inside libcurl: the transfer has data to deliver once libcurl has returned.
  void mark_ready(CurlTransfer& transfer);

private:
  struct Watch;

  static CURLcode on_context(CURL* easy, void* context, void* self);
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* watch);
  static int on_timer(CURLM* multi, long milliseconds, void* self);
  void wait_for(const std::shared_ptr<Watch>& watch, int direction);
  void forget(curl_socket_t socket);
  void set_timer(long milliseconds);
  void act(curl_socket_t socket, int events);

  Loop& loop_;
  const Curl& curl_;
  CURLM* multi_;
  asio::steady_timer timer_;
  std::shared_ptr<const TrustedRoots> roots_;
  std::chrono::steady_clock::time_point roots_expire_at_{};
  std::unordered_map<curl_socket_t, std::shared_ptr<Watch>> watches_;
  std::vector<CurlTransfer*> ready_;
};

}  // namespace agw
