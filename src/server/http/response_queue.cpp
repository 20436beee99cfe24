#include "server/http/response_queue.hpp"

#include <string_view>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::size_t flush_threshold = 4096;  // bytes: more is sent before further requests, and freed afterwards

}  // namespace

void ResponseQueue::append(const Response& response, const ResponseOptions& options) {
  write_response(bytes_, response, options);
}

bool ResponseQueue::full() const { return bytes_.size() > flush_threshold; }

bool ResponseQueue::try_flush() {
  AGW_ASSERT(sent_ <= bytes_.size());
  auto rest = std::string_view(bytes_).substr(sent_);
  const bool broken = !stream_.try_send(rest);
  sent_ = bytes_.size() - rest.size();
  if (broken || !rest.empty() || stream_.has_unsent_ciphertext()) return false;
  clear();
  return true;
}

Task<bool> ResponseQueue::flush() {
  AGW_ASSERT(sent_ <= bytes_.size());
  const bool sent = co_await stream_.send(std::string_view(bytes_).substr(sent_));
  clear();
  co_return sent;
}

void ResponseQueue::clear() {
  bytes_.clear();
  sent_ = 0;
  if (bytes_.capacity() > flush_threshold) std::string().swap(bytes_);
}

}  // namespace agw
