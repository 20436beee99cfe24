#include "server/mcp/stream.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

void McpStream::push(std::string text) {
  if (!ended_) add(std::move(text));
}

void McpStream::finish(std::string response, int status) {
  if (ended_) return;
  status_ = status;
  ended_ = true;
  add(std::move(response));
}

void McpStream::close() {
  ended_ = true;
  changed_.pulse();
}

/// The text is the response if the stream has ended.
void McpStream::add(std::string text) {
  AGW_ASSERT(messages_.empty() || !messages_.back().is_response);
  bytes_ += text.size();
  messages_.push_back({.number = ++latest_, .text = std::move(text), .is_response = ended_});
  while (messages_.size() > max_messages || (bytes_ > max_bytes && messages_.size() > 1)) {
    AGW_ASSERT(bytes_ >= messages_.front().text.size());
    bytes_ -= messages_.front().text.size();
    messages_.pop_front();
  }
  AGW_ASSERT(!messages_.empty());
  AGW_ASSERT(messages_.back().number == latest_);
  AGW_ASSERT(messages_.front().number + messages_.size() == latest_ + 1);  // no number is missing
  changed_.pulse();
}

const McpStream::Message* McpStream::after(std::uint64_t number) const {
  if (messages_.empty() || number >= latest_) return nullptr;
  const auto first = messages_.front().number;
  const auto place = number < first ? 0 : number - first + 1;
  AGW_ASSERT(place < messages_.size());
  AGW_ASSERT(messages_[place].number > number);
  return &messages_[place];
}

}  // namespace agw
