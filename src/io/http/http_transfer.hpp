#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/async/async_event.hpp"
#include "io/http/checked_socket.hpp"
#include "io/http/curl.hpp"
#include "io/http/http_client.hpp"
#include "io/http/http_multi.hpp"

namespace agw {

/// One request of an HttpClient: a libcurl handle, undelivered data, and the outcome. Owned by a shared pointer, so
/// that a pending timer handler can detect its destruction.
class HttpTransfer final : public CurlTransfer, public std::enable_shared_from_this<HttpTransfer> {
public:
  HttpTransfer(HttpMulti& multi, HttpRequest request, OnBody on_body);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  CURL* easy() override { return easy_; }

  /// Starts the transfer.
  void start();
  /// Delivers buffered data.
  void deliver() override;
  /// Called when libcurl has finished. The transfer ends once all data is delivered.
  void finished(CURLcode code) override;
  void not_added(std::string why) override { end(HttpOutcome::End::broken, std::move(why)); }
  /// Ends the transfer, unless it has ended; closes the connection if the response is incomplete.
  void end(HttpOutcome::End why, std::string error = {});

  /// Waits for the end. Rethrows an exception of `on_body`; throws operation_aborted if the awaiting coroutine is
  /// cancelled.
  Task<HttpOutcome> outcome();

private:
  using Time = std::chrono::steady_clock::time_point;

  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int before_request(void* self, char* peer, char* own, int peer_port, int own_port);
  static std::size_t on_write(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  template <class Value>
  void set(CURLoption option, Value value);
  AddressRule address_rule() const { return {request_.public_only, request_.no_metadata}; }
  void set_request();
  void restrict_to_public();
  void set_headers();
  void post_delivery();
  void resume();
  void take_header(std::string_view line);
  void watch_silence();
  void on_silence_timer();
  bool has_sent_more();
  std::string describe(CURLcode code) const;

  HttpMulti& multi_;
  HttpRequest request_;
  OnBody on_body_;
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_buffer_{};
  HttpOutcome outcome_;
  std::string pending_;               ///< undelivered and partly delivered bytes of the body
  std::size_t delivered_ = 0;         ///< bytes of `pending_` already delivered
  bool delivery_posted_ = false;      ///< a delivery is posted to the loop
  bool paused_ = false;               ///< libcurl is paused until all data is delivered
  std::optional<CURLcode> result_{};  ///< libcurl's result, reported once all data is delivered
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool too_large_ = false;
  bool enough_ = false;
  bool added_ = false;
  bool has_begun_ = false;      ///< the request was sent, at least in part
  std::exception_ptr failure_;  ///< the exception of `on_body`
  Time last_byte_;
  WaitClock::Clock::duration waited_{};  ///< the time of `waits` at the last check
  std::int64_t sent_bytes_ = 0;
  bool sending_ = true;  ///< false once the request is known to be sent
  asio::steady_timer silence_;
  AsyncEvent ended_;
};

}  // namespace agw
