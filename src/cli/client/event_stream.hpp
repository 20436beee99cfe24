#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "cli/client/message_stream.hpp"

namespace agw::cli {

class AnswerPrinter;

/// A WebSocket that receives the events of one thread.
class EventStream {
public:
  /// Connects and subscribes; receives every event from then on. With `approvals`, agents may ask, because a person can
  /// answer here. Throws std::runtime_error if the gateway refuses.
  static Task<std::unique_ptr<EventStream>> open(const FoundGateway& gateway, std::string thread_id,
                                                 bool approvals = false);

  /// The next message, or nullopt if the connection is closed.
  Task<std::optional<json::object>> next() { return messages_->next(); }

private:
  explicit EventStream(std::unique_ptr<MessageStream> messages) : messages_(std::move(messages)) {}

  std::unique_ptr<MessageStream> messages_;
};

/// Reconnects to a thread's events after the connection broke; updates `gateway`. Retries for as long as a restart of
/// the gateway may take, then throws the reason.
Task<std::unique_ptr<EventStream>> reconnect(FoundGateway& gateway, const std::optional<std::string>& data_dir,
                                             const std::string& thread_id, AnswerPrinter& printer,
                                             bool approvals = false);

}  // namespace agw::cli
