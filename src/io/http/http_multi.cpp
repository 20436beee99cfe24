#include "io/http/http_multi.hpp"

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/log.hpp"

namespace agw {

/// A socket of libcurl and the events that libcurl waits for.
struct HttpMulti::Watch {
  Watch(Loop& loop, curl_socket_t socket) : descriptor(loop, socket) {}
  ~Watch() { descriptor.release(); }

  asio::posix::stream_descriptor descriptor;
  int wanted = 0;   ///< CURL_POLL_IN and CURL_POLL_OUT
  int waiting = 0;  ///< the directions with a pending wait
};

namespace {

/// The maximum number of idle connections.
constexpr long max_connections = 64;

constexpr std::chrono::hours roots_lifetime{1};

}  // namespace

HttpMulti::HttpMulti(Loop& loop, const Curl& curl) : loop_(loop), curl_(curl), multi_(curl.multi_init()), timer_(loop) {
  if (!multi_) throw std::bad_alloc();
  curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, max_connections);
  curl_.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &HttpMulti::on_socket);
  curl_.multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &HttpMulti::on_timer);
  curl_.multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

HttpMulti::~HttpMulti() {
  AGW_DEBUG_ASSERT(ready_.empty());
  for (auto& [socket, watch] : watches_) watch->descriptor.release();
  watches_.clear();
  curl_.multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_.multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, nullptr);
  curl_.multi_cleanup(multi_);
}

bool HttpMulti::needs_roots() const { return std::chrono::steady_clock::now() >= roots_expire_at_; }

void HttpMulti::trust(std::shared_ptr<const TrustedRoots> roots) {
  AGW_ASSERT(roots);
  roots_ = std::move(roots);
  roots_expire_at_ = std::chrono::steady_clock::now() + roots_lifetime;
}

void HttpMulti::set_roots(CURL* easy) {
  if (!roots_) return;
  // Only a libcurl with OpenSSL takes the function.
  if (curl_.easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &HttpMulti::on_context) != CURLE_OK) return;
  curl_.easy_setopt(easy, CURLOPT_SSL_CTX_DATA, this);
  // libcurl 7.88 puts the authorities that it has cached in place of those of the function.
  curl_.easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
  curl_.easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  curl_.easy_setopt(easy, CURLOPT_CAPATH, nullptr);
}

CURLcode HttpMulti::on_context(CURL*, void* context, void* self) {
  static_cast<HttpMulti*>(self)->roots_->use_in(static_cast<SSL_CTX*>(context));
  return CURLE_OK;
}

void HttpMulti::add(CurlTransfer& transfer) {
  AGW_ASSERT(transfer.easy());
  const auto code = curl_.multi_add_handle(multi_, transfer.easy());
  if (code != CURLM_OK) transfer.not_added(curl_.multi_strerror(code));
}

void HttpMulti::remove(CurlTransfer& transfer) {
  std::erase(ready_, &transfer);
  curl_.multi_remove_handle(multi_, transfer.easy());
}

void HttpMulti::mark_ready(CurlTransfer& transfer) {
  if (!contains(ready_, &transfer)) ready_.push_back(&transfer);
}

int HttpMulti::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  auto& multi = *static_cast<HttpMulti*>(self);
  if (what == CURL_POLL_REMOVE) {
    multi.forget(socket);
    return 0;
  }
  AGW_ASSERT(socket != CURL_SOCKET_BAD);
  auto& watch = multi.watches_[socket];
  if (!watch) watch = std::make_shared<Watch>(multi.loop_, socket);
  watch->wanted = what;
  multi.wait_for(watch, CURL_POLL_IN);
  multi.wait_for(watch, CURL_POLL_OUT);
  return 0;
}

void HttpMulti::forget(curl_socket_t socket) {
  const auto found = watches_.find(socket);
  if (found == watches_.end()) return;
  found->second->wanted = 0;
  // Must precede the closing of the socket by libcurl: its number may be reused immediately.
  found->second->descriptor.release();
  watches_.erase(found);
}

void HttpMulti::wait_for(const std::shared_ptr<Watch>& watch, int direction) {
  AGW_ASSERT(direction == CURL_POLL_IN || direction == CURL_POLL_OUT);
  if (!(watch->wanted & direction) || (watch->waiting & direction)) return;
  watch->waiting |= direction;
  const bool reading = direction == CURL_POLL_IN;
  watch->descriptor.async_wait(
      reading ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write,
      [weak = weak_from_this(), watch, direction, reading](boost::system::error_code error) {
        AGW_ASSERT(watch->waiting & direction);
        watch->waiting &= ~direction;
        const auto self = weak.lock();
        if (error || !self || !(watch->wanted & direction)) return;
        self->act(watch->descriptor.native_handle(), reading ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
        self->wait_for(watch, direction);
      });
}

int HttpMulti::on_timer(CURLM*, long milliseconds, void* self) {
  static_cast<HttpMulti*>(self)->set_timer(milliseconds);
  return 0;
}

void HttpMulti::set_timer(long milliseconds) {
  if (milliseconds < 0) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::milliseconds(milliseconds));
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (error) return;
    if (const auto self = weak.lock()) self->act(CURL_SOCKET_TIMEOUT, 0);
  });
}

void HttpMulti::act(curl_socket_t socket, int events) {
  int running = 0;
  const auto code = curl_.multi_socket_action(multi_, socket, events, &running);
  if (code != CURLM_OK) log::error("libcurl: {}", curl_.multi_strerror(code));

  while (!ready_.empty()) {
    auto* transfer = ready_.back();
    ready_.pop_back();
    transfer->deliver();
  }
  int left = 0;
  while (const auto* message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* transfer = nullptr;
    curl_.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    if (message->data.result == CURLE_PEER_FAILED_VERIFICATION) roots_expire_at_ = {};
    AGW_ASSERT(transfer);
    reinterpret_cast<CurlTransfer*>(transfer)->finished(message->data.result);
  }
}

}  // namespace agw
