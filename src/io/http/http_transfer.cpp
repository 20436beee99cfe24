// One request with libcurl, driven by the loop (http_multi.hpp).
//
// Two points need care. Addresses: libcurl resolves names itself, so private addresses can only be refused in
// `open_socket`, which sees the address actually used, also after redirects. Backpressure: `on_write` must not wait, so
// it stores a piece and pauses the transfer; `deliver` passes the piece to its reader before it resumes.

#include "io/http/http_transfer.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/assert.hpp"
#include "io/http/checked_socket.hpp"

namespace agw {

namespace {

constexpr std::size_t max_header_bytes = 64 * 1024;
/// About a hundred small deltas of a model, which take about a millisecond.
constexpr std::size_t max_at_once = 16 * 1024;
constexpr std::size_t max_waiting = 1024 * 1024;
static_assert(max_at_once <= max_waiting);
/// Data is decoded as it is read: each byte can expand to a thousand.
constexpr long max_read_at_once = 8 * 1024;
constexpr std::chrono::milliseconds linger{200};
constexpr std::chrono::milliseconds max_unchecked_time{1000};

bool has_line_break(const HttpHeader& header) {
  const auto breaks = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  return std::ranges::any_of(header.name, breaks) || std::ranges::any_of(header.value, breaks);
}

}  // namespace

HttpTransfer::HttpTransfer(HttpMulti& multi, HttpRequest request, OnBody on_body)
    : multi_(multi),
      request_(std::move(request)),
      on_body_(std::move(on_body)),
      easy_(multi.curl().easy_init()),
      last_byte_(std::chrono::steady_clock::now()),
      silence_(multi.loop()),
      ended_(multi.loop()) {
  if (!easy_) throw std::bad_alloc();
}

HttpTransfer::~HttpTransfer() {
  if (added_) multi_.remove(*this);
  multi_.curl().easy_cleanup(easy_);
  multi_.curl().slist_free_all(headers_);
}

void HttpTransfer::start() {
  AGW_ASSERT(!added_);
  AGW_ASSERT(!ended_.happened());
  if (std::ranges::any_of(request_.headers, has_line_break)) {
    end(HttpOutcome::End::broken, "a request header holds a line break");
    return;
  }
  set_request();
  set_headers();
  watch_silence();
  added_ = true;
  multi_.add(*this);
}

template <class Value>
void HttpTransfer::set(CURLoption option, Value value) {
  multi_.curl().easy_setopt(easy_, option, value);
}

void HttpTransfer::set_request() {
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  // Uses one connection per request: stopping the request closes it, and no request waits for another's data.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  const bool posts = !request_.body.empty() || request_.method == "POST";
  if (posts) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request_.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  }
  if (request_.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request_.method != (posts ? "POST" : "GET")) {
    set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_timeout.count()));
  set(CURLOPT_USERAGENT, "agent-gateway/" AGW_VERSION);
  set(CURLOPT_NOSIGNAL, 1L);
  // Without this option, stopping during name resolution would block the loop until the resolver has finished.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_ACCEPT_ENCODING, "");
  set(CURLOPT_BUFFERSIZE, max_read_at_once);
  multi_.set_roots(easy_);
  set(CURLOPT_ERRORBUFFER, error_buffer_.data());
  set(CURLOPT_PRIVATE, static_cast<void*>(static_cast<CurlTransfer*>(this)));
  set(CURLOPT_OPENSOCKETFUNCTION, &HttpTransfer::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(CURLOPT_PREREQFUNCTION, &HttpTransfer::before_request);
  set(CURLOPT_PREREQDATA, static_cast<void*>(this));
  if (request_.public_only) restrict_to_public();
  set(CURLOPT_WRITEFUNCTION, &HttpTransfer::on_write);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
}

void HttpTransfer::set_headers() {
  AGW_ASSERT(!headers_);
  const auto append = [&](const std::string& line) {
    headers_ = multi_.curl().slist_append(headers_, line.c_str());
    if (!headers_) throw std::bad_alloc();
  };
  append("Expect:");
  // Encoded responses are decoded but not requested: a server would delay a stream to compress it.
  append("Accept-Encoding:");
  // After a colon without a value, libcurl leaves out the header.
  for (const auto& [name, value] : request_.headers) {
    append(boost::trim_copy(value).empty() ? name + ";" : fmt::format("{}: {}", name, value));
  }
  set(CURLOPT_HTTPHEADER, headers_);
}

/// Excludes proxies, which would choose the address, and reused connections, which were checked for another request.
void HttpTransfer::restrict_to_public() {
  set(CURLOPT_PROXY, "");
  set(CURLOPT_FRESH_CONNECT, 1L);
  set(CURLOPT_FORBID_REUSE, 1L);
}

/// Child processes of tools would inherit libcurl's own sockets and keep an aborted connection open.
curl_socket_t HttpTransfer::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  return open_checked_socket(*address, transfer.address_rule(), transfer.outcome_.refused_address);
}

/// Prevents libcurl from repeating a request when a reused connection ends without a response: its effect could happen
/// twice (RFC 9110, section 9.2.2).
int HttpTransfer::before_request(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const auto& method = transfer.request_.method;
  const bool may_repeat = method == "GET" || method == "HEAD";
  const bool is_first = !std::exchange(transfer.has_begun_, true);
  return is_first || may_repeat ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

std::size_t HttpTransfer::on_write(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::size_t length = size * count;
  AGW_ASSERT(transfer.added_);
  AGW_ASSERT(transfer.delivered_ <= transfer.pending_.size());
  transfer.last_byte_ = std::chrono::steady_clock::now();
  if (transfer.pending_.size() - transfer.delivered_ > max_waiting) {
    transfer.paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  transfer.body_bytes_ += length;
  if (transfer.body_bytes_ > transfer.request_.max_body_bytes) {
    transfer.too_large_ = true;
    return 0;
  }
  transfer.pending_.append(bytes, length);
  transfer.multi_.mark_ready(transfer);
  return length;
}

std::size_t HttpTransfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::size_t length = size * count;
  transfer.last_byte_ = std::chrono::steady_clock::now();
  transfer.header_bytes_ += length;
  if (transfer.header_bytes_ > max_header_bytes) {
    transfer.too_large_ = true;
    return 0;
  }
  transfer.take_header({bytes, length});
  return length;
}

void HttpTransfer::take_header(std::string_view line) {
  auto& head = outcome_.head;
  if (line.starts_with("HTTP/")) {
    head.headers.clear();
    long status = 0;
    multi_.curl().easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    head.status = static_cast<int>(status);
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  head.headers.push_back({boost::to_lower_copy(std::string(line.substr(0, colon))),
                          boost::trim_copy(std::string(line.substr(colon + 1)))});
}

/// Delivers in pieces and lets the loop do other work in between: compressed data can expand a thousandfold.
void HttpTransfer::deliver() {
  if (ended_.happened() || enough_ || delivery_posted_ || pending_.empty()) return;
  const auto piece = std::string_view(pending_).substr(delivered_, max_at_once);
  delivered_ += piece.size();
  AGW_ASSERT(delivered_ <= pending_.size());
  try {
    const auto action = on_body_(outcome_.head, piece);
    if (action == BodyAction::abandon) end(HttpOutcome::End::complete);
    if (action == BodyAction::enough) {
      enough_ = true;
      watch_silence();
    }
  } catch (...) {
    failure_ = std::current_exception();
    end(HttpOutcome::End::broken);
  }
  if (!ended_.happened() && !enough_ && delivered_ < pending_.size()) return post_delivery();
  pending_.clear();
  delivered_ = 0;
  AGW_ASSERT(!delivery_posted_);
  if (result_) return finished(*result_);
  if (!ended_.happened() && std::exchange(paused_, false)) resume();
}

/// Resumes the transfer, which may decode much more data immediately.
void HttpTransfer::resume() {
  AGW_ASSERT(added_);
  AGW_ASSERT(pending_.empty());
  multi_.curl().easy_pause(easy_, CURLPAUSE_CONT);
  if (!pending_.empty()) post_delivery();
}

void HttpTransfer::post_delivery() {
  if (std::exchange(delivery_posted_, true)) return;
  asio::post(multi_.loop(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    AGW_ASSERT(self->delivery_posted_);
    self->delivery_posted_ = false;
    self->deliver();
  });
}

void HttpTransfer::finished(CURLcode code) {
  if (!pending_.empty() && !enough_) {
    result_ = code;
    return;
  }
  if (enough_ || code == CURLE_OK) return end(HttpOutcome::End::complete);
  if (too_large_) return end(HttpOutcome::End::too_large, describe(code));
  outcome_.is_lasting = code == CURLE_PEER_FAILED_VERIFICATION || !outcome_.refused_address.empty();
  end(HttpOutcome::End::broken, describe(code));
}

void HttpTransfer::end(HttpOutcome::End why, std::string error) {
  if (ended_.happened()) return;
  outcome_.end = why;
  outcome_.error = std::move(error);
  silence_.cancel();
  AGW_ASSERT(why != HttpOutcome::End::complete || outcome_.error.empty());
  ended_.notify();
  if (std::exchange(added_, false)) multi_.remove(*this);
}

Task<HttpOutcome> HttpTransfer::outcome() {
  co_await ended_.wait();
  AGW_ASSERT(ended_.happened());
  AGW_ASSERT(!added_);
  if (failure_) std::rethrow_exception(failure_);
  co_return std::move(outcome_);
}

/// A timer that checks the time of the last byte costs nothing per byte. Only the total of sent bytes is known, so the
/// timer checks more often while it grows.
void HttpTransfer::watch_silence() {
  const auto now = std::chrono::steady_clock::now();
  const auto end = last_byte_ + request_.idle_timeout;
  const auto soon = now + std::min<std::chrono::milliseconds>(request_.idle_timeout / 8, max_unchecked_time);
  silence_.expires_at(enough_ ? now + linger : sending_ ? std::min(end, soon) : end);
  silence_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (self && !error) self->on_silence_timer();
  });
}

void HttpTransfer::on_silence_timer() {
  if (ended_.happened()) return;
  if (enough_) return end(HttpOutcome::End::complete);
  sending_ = has_sent_more();
  const auto waited = request_.waits ? request_.waits->waited() : WaitClock::Clock::duration();
  if (sending_ || std::exchange(waited_, waited) != waited) last_byte_ = std::chrono::steady_clock::now();
  if (std::chrono::steady_clock::now() < last_byte_ + request_.idle_timeout) return watch_silence();
  end(HttpOutcome::End::silent,
      fmt::format("nothing came for {} s", std::chrono::duration<double>(request_.idle_timeout).count()));
}

bool HttpTransfer::has_sent_more() {
  curl_off_t sent = 0;
  multi_.curl().easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &sent);
  return std::exchange(sent_bytes_, sent) != sent;
}

std::string HttpTransfer::describe(CURLcode code) const {
  if (too_large_) {
    return header_bytes_ > max_header_bytes ? "the head of the answer is over 64 KiB"
                                            : fmt::format("the answer is over {} bytes", request_.max_body_bytes);
  }
  if (outcome_.head.status == 0 && !outcome_.refused_address.empty()) {
    return refusal_text(outcome_.refused_address, address_rule());
  }
  switch (code) {
    case CURLE_PARTIAL_FILE:
      return "the connection broke in the middle of the answer";
    case CURLE_RECV_ERROR:
      return "the connection was reset";
    case CURLE_GOT_NOTHING:
    case CURLE_ABORTED_BY_CALLBACK:
      return "the connection was closed without an answer";
    default:
      return error_buffer_[0] ? error_buffer_.data() : multi_.curl().easy_strerror(code);
  }
}

}  // namespace agw
