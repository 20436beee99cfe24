// Uses libcurl's CURLOPT_CONNECT_ONLY: the transfer ends after the login and leaves the connection, with its TLS, to
// the caller (https://curl.se/libcurl/c/CURLOPT_CONNECT_ONLY.html). libcurl's own transfers do not support IDLE, and
// wait for the response to their last command before they close.

#include "io/mail/mail_connection.hpp"

#include <new>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/use_awaitable.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/async/assert.hpp"
#include "config/addresses.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto connect_limit = 15s;
/// For connection, TLS and login together.
constexpr auto login_limit = 45s;
/// For each response of a server: RFC 5321 allows minutes after the end of a mail.
constexpr auto answer_limit = 5min;
constexpr std::size_t read_at_once = 16 * 1024;
constexpr std::size_t max_line = 1024 * 1024;

/// A password sent unencrypted to this machine does not leave it.
bool needs_starttls(const std::string& url) {
  const auto parsed = boost::urls::parse_uri(url);
  return !parsed || !is_loopback(std::string_view(parsed->encoded_host().data(), parsed->encoded_host().size()));
}

}  // namespace

MailConnection::MailConnection(HttpClient& http) : http_(http) {}

MailConnection::~MailConnection() {
  if (socket_) socket_->release();
  if (added_) multi_->remove(*this);
  if (easy_) curl_->easy_cleanup(easy_);
}

template <class Value>
void MailConnection::set(CURLoption option, Value value) {
  curl_->easy_setopt(easy_, option, value);
}

void MailConnection::set_options() {
  set(CURLOPT_URL, server_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "imap,imaps,smtp,smtps");
  set(CURLOPT_CONNECT_ONLY, 1L);
  set(CURLOPT_USERNAME, server_.user.c_str());
  set(CURLOPT_PASSWORD, server_.password.c_str());
  set(CURLOPT_USE_SSL, needs_starttls(server_.url) ? CURLUSESSL_ALL : CURLUSESSL_NONE);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::chrono::milliseconds(connect_limit).count()));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_ERRORBUFFER, error_buffer_.data());
  set(CURLOPT_PRIVATE, static_cast<void*>(static_cast<CurlTransfer*>(this)));
  set(CURLOPT_OPENSOCKETFUNCTION, &MailConnection::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  if (server_.rule.public_only) set(CURLOPT_PROXY, "");
  multi_->set_roots(easy_);
}

curl_socket_t MailConnection::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& connection = *static_cast<MailConnection*>(self);
  return open_checked_socket(*address, connection.server_.rule, connection.refused_address_);
}

void MailConnection::finished(CURLcode code) {
  result_ = code;
  connected_->notify();
}

void MailConnection::not_added(std::string why) {
  problem_ = std::move(why);
  connected_->notify();
}

Task<> MailConnection::open(MailServer server, StopSource& stop) {
  AGW_ASSERT(!easy_);
  constexpr bool may_use_tls = true;  // by STARTTLS, whatever the scheme
  if (const auto problem = co_await http_.prepare(may_use_tls); !problem.empty())
    throw MailError(MailError::Kind::broken, problem);
  server_ = std::move(server);
  curl_ = &Curl::get();
  multi_ = http_.multi();
  easy_ = curl_->easy_init();
  if (!easy_) throw std::bad_alloc();
  connected_.emplace(multi_->loop());
  set_options();
  added_ = true;
  multi_->add(*this);
  const auto until_connected = [](AsyncEvent& connected) -> Task<> { co_await connected.wait(); };
  const auto waited = co_await with_timeout(stop, login_limit, until_connected(*connected_));
  if (waited == WaitResult::stopped) throw MailError(MailError::Kind::stopped, "stopped");
  if (waited == WaitResult::timed_out) throw MailError(MailError::Kind::broken, "the server did not answer in time");
  if (!problem_.empty()) throw MailError(MailError::Kind::broken, problem_);
  if (result_ != CURLE_OK) {
    const bool is_refused = result_ == CURLE_LOGIN_DENIED;
    throw MailError(is_refused ? MailError::Kind::refused : MailError::Kind::broken, describe(result_));
  }
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_->easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD) throw MailError(MailError::Kind::broken, "the server closed the connection");
  socket_.emplace(multi_->loop(), socket);
}

std::string MailConnection::describe(CURLcode code) const {
  if (!refused_address_.empty()) return refusal_text(refused_address_, server_.rule);
  if (code == CURLE_LOGIN_DENIED) return "the server refuses this user and password";
  if (code == CURLE_USE_SSL_FAILED) return "the server offers no encryption (STARTTLS)";
  return error_buffer_[0] ? error_buffer_.data() : curl_->easy_strerror(code);
}

Task<WaitResult> MailConnection::wait(asio::posix::descriptor_base::wait_type what, std::chrono::milliseconds limit,
                                      StopSource& stop) {
  AGW_ASSERT(socket_);
  const auto until_ready = [](asio::posix::stream_descriptor& socket,
                              asio::posix::descriptor_base::wait_type direction) -> Task<> {
    co_await socket.async_wait(direction, asio::use_awaitable);
  };
  const auto waited = co_await with_timeout(stop, limit, until_ready(*socket_, what));
  if (waited == WaitResult::stopped) throw MailError(MailError::Kind::stopped, "stopped");
  co_return waited;
}

Task<bool> MailConnection::fill(std::chrono::milliseconds limit, StopSource& stop) {
  for (;;) {
    if (stop.requested()) throw MailError(MailError::Kind::stopped, "stopped");
    const auto size = buffer_.size();
    buffer_.resize(size + read_at_once);
    std::size_t count = 0;
    const auto code = curl_->easy_recv(easy_, buffer_.data() + size, read_at_once, &count);
    AGW_ASSERT(code != CURLE_OK || count <= read_at_once);
    buffer_.resize(size + (code == CURLE_OK ? count : 0));
    if (code == CURLE_OK && count > 0) co_return true;
    if (code == CURLE_OK) throw MailError(MailError::Kind::broken, "the server closed the connection");
    if (code != CURLE_AGAIN) throw MailError(MailError::Kind::broken, describe(code));
    const auto waited = co_await wait(asio::posix::descriptor_base::wait_read, limit, stop);
    if (waited == WaitResult::timed_out) co_return false;
  }
}

std::string MailConnection::take(std::size_t count) {
  AGW_ASSERT(begin_ <= buffer_.size());
  AGW_ASSERT(count <= unread().size());
  auto taken = buffer_.substr(begin_, count);
  begin_ += count;
  if (begin_ == buffer_.size()) {
    buffer_ = {};
    begin_ = 0;
  }
  return taken;
}

Task<std::optional<std::string>> MailConnection::read_line_within(std::chrono::milliseconds limit, StopSource& stop) {
  for (std::size_t looked_at = 0;;) {
    const auto end = unread().find('\n', looked_at);
    if (end != std::string_view::npos) {
      auto line = take(end + 1);
      line.pop_back();
      if (line.ends_with('\r')) line.pop_back();
      co_return line;
    }
    looked_at = unread().size();
    if (looked_at > max_line) throw MailError(MailError::Kind::broken, "the server sent a line of over 1 MiB");
    if (!co_await fill(limit, stop)) co_return std::nullopt;
  }
}

Task<std::string> MailConnection::read_line(StopSource& stop) {
  auto line = co_await read_line_within(answer_limit, stop);
  if (!line) throw MailError(MailError::Kind::broken, "the server did not answer in time");
  co_return *std::move(line);
}

Task<std::string> MailConnection::read_bytes(std::size_t count, StopSource& stop) {
  while (unread().size() < count) {
    if (!co_await fill(answer_limit, stop)) {
      throw MailError(MailError::Kind::broken, "the server did not answer in time");
    }
  }
  co_return take(count);
}

Task<> MailConnection::write(std::string bytes, StopSource& stop) {
  for (std::size_t written = 0; written < bytes.size();) {
    if (stop.requested()) throw MailError(MailError::Kind::stopped, "stopped");
    std::size_t count = 0;
    const auto code = curl_->easy_send(easy_, bytes.data() + written, bytes.size() - written, &count);
    if (code == CURLE_OK) {
      written += count;
      AGW_ASSERT(written <= bytes.size());
      continue;
    }
    if (code != CURLE_AGAIN) throw MailError(MailError::Kind::broken, describe(code));
    const auto waited = co_await wait(asio::posix::descriptor_base::wait_write, answer_limit, stop);
    if (waited == WaitResult::timed_out)
      throw MailError(MailError::Kind::broken, "the server took nothing for minutes");
  }
}

}  // namespace agw
