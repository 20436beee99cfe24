#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "io/curl.hpp"
#include "io/http_client.hpp"

namespace agw {

/// One exchange of an HttpClient: a libcurl handle, what came and was not yet handed over, and how it ended. Owned by a
/// shared pointer, so that a timer's handler which was already due when it died finds that out.
class HttpTransfer : public std::enable_shared_from_this<HttpTransfer> {
public:
  HttpTransfer(HttpMulti& multi, HttpRequest request, OnBody on_body);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  CURL* easy() { return easy_; }

  /// Lets libcurl begin.
  void start();
  /// Hands over what has come.
  void deliver();
  /// libcurl is done with it. It ends once all that has come is handed over.
  void finished(CURLcode code);
  /// Ends it here and now, unless it has ended; the connection is closed if the answer was under way.
  void end(HttpOutcome::End why, std::string error = {});

  /// Waits for the end. Throws what `on_body` threw, and operation_aborted where the awaiting coroutine is cancelled.
  Task<HttpOutcome> outcome();

private:
  using Time = std::chrono::steady_clock::time_point;

  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static std::size_t on_write(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  template <class Value>
  void set(CURLoption option, Value value);
  void set_request();
  void keep_to_public();
  void cache_certificates();
  void set_headers();
  void deliver_soon();
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
  std::string pending_;               ///< body bytes that are to be handed over
  std::size_t delivered_ = 0;         ///< of these
  bool delivers_soon_ = false;        ///< the next of these
  bool paused_ = false;               ///< libcurl is to hand over no more before all is delivered
  std::optional<CURLcode> result_{};  ///< from libcurl, for when they are handed over
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool too_large_ = false;
  bool enough_ = false;
  bool added_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;  ///< what `on_body` threw
  Time last_byte_;
  std::int64_t sent_bytes_ = 0;
  bool sending_ = true;  ///< as far as is known
  asio::steady_timer silence_;
  asio::steady_timer ended_signal_;
};

}  // namespace agw
