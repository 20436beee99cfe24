#include "server/recorded_stream.hpp"

#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"

namespace agw {

bool RecordedStream::is_to_store() const {
  const bool is_success = response_.status >= 200 && response_.status < 300;
  return is_success && !has_failed_ && response_.body.size() <= max_body && !stream_.stop_source().requested();
}

Task<std::optional<std::string>> RecordedStream::read() { co_return std::exchange(content_, {}); }

Task<bool> RecordedStream::begin(ResponseHead head) {
  AGW_ASSERT(!has_begun());
  response_.status = head.status;
  json::array fields;
  for (const auto& [name, value] : head.fields) {
    fields.emplace_back(name);
    fields.emplace_back(value);
  }
  response_.fields = to_json(fields);
  AGW_ASSERT(has_begun());
  if (head.length) {
    whole_ = std::move(head);
  } else {
    is_connected_ = co_await stream_.begin(std::move(head));
  }
  co_return true;
}

Task<bool> RecordedStream::send(std::string_view piece) {
  AGW_ASSERT(has_begun());
  if (whole_ || response_.body.size() <= max_body) response_.body += piece;
  if (!whole_ && is_connected_) is_connected_ = co_await stream_.send(piece);
  co_return true;
}

Task<bool> RecordedStream::end() {
  AGW_ASSERT(has_begun());
  AGW_ASSERT(!whole_ || whole_->length == response_.body.size());
  if (is_to_store()) co_await store_(response_);
  if (whole_) {
    co_await stream_.send_whole(std::move(*whole_), response_.body);
  } else if (is_connected_) {
    co_await stream_.end();
  }
  co_return true;
}

Task<> send_recorded(ProxyStream& stream, const idempotency_store::StoredResponse& response) {
  ResponseHead head{.status = response.status, .fields = {}, .length = response.body.size()};
  if (!response.fields.empty()) {
    const auto fields = parse_stored_json(response.fields).as_array();
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
      head.fields.emplace_back(fields[i].as_string(), fields[i + 1].as_string());
  }
  co_await stream.send_whole(std::move(head), response.body);
}

}  // namespace agw
