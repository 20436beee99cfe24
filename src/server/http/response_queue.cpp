#include "server/http/response_queue.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::size_t flush_threshold = 4096;    // bytes: a longer queue is sent before further requests, and freed
constexpr std::size_t long_body = 128UL * 1024;  // bytes: copying a shorter body costs less than a system call
static_assert(flush_threshold < long_body);      // a queue with a long body is full

}  // namespace

void ResponseQueue::append(Response response, const ResponseOptions& options) {
  if (!long_body_.empty()) bytes_ += std::exchange(long_body_, {});
  const bool is_long = response.body.size() > long_body && has_content(response) && !options.without_body;
  auto written = options;
  written.without_body = options.without_body || is_long;
  write_response(bytes_, response, written);
  AGW_ASSERT(long_body_.empty());
  AGW_ASSERT(sent_ < bytes_.size());
  if (is_long) long_body_ = std::move(response.body);
}

bool ResponseQueue::full() const { return bytes_.size() > flush_threshold || !long_body_.empty(); }

bool ResponseQueue::try_flush() {
  do {
    auto rest = unsent();
    const auto size = rest.size();
    const bool broken = !stream_.try_send(rest);
    AGW_ASSERT(rest.size() <= size);
    sent_ += size - rest.size();
    if (broken || !rest.empty() || stream_.has_unsent_ciphertext()) return false;
  } while (!unsent().empty());
  AGW_ASSERT(sent_ == bytes_.size() + long_body_.size());
  clear();
  return true;
}

Task<bool> ResponseQueue::flush() {
  bool sent = false;
  do {
    const auto piece = unsent();
    sent = co_await stream_.send(piece);
    sent_ += piece.size();
  } while (sent && !unsent().empty());
  AGW_ASSERT(!sent || sent_ == bytes_.size() + long_body_.size());
  clear();
  co_return sent;
}

std::string_view ResponseQueue::unsent() const {
  AGW_ASSERT(sent_ <= bytes_.size() + long_body_.size());
  if (sent_ < bytes_.size()) return std::string_view(bytes_).substr(sent_);
  return std::string_view(long_body_).substr(sent_ - bytes_.size());
}

void ResponseQueue::clear() {
  bytes_.clear();
  long_body_ = {};
  sent_ = 0;
  if (bytes_.capacity() > flush_threshold) std::string().swap(bytes_);
}

}  // namespace agw
