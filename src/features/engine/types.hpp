#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// When a message reaches its agent while another message is being answered.
enum class Delivery {
  queue,      ///< as a separate question, once the runs before it have ended
  steer,      ///< within the active answer, before the next call of the model; if that is too late, like `queue`
  interrupt,  ///< like `queue`, but stops the active answer
};
std::span<const EnumName> names(Tag<Delivery>);

/// The body of `POST /chat`. `metadata` is set only by callers inside the gateway.
struct ChatMessage {
  std::string content;
  std::optional<std::string> threadId;                  ///< none: a new thread
  std::optional<std::string> agentId;                   ///< id or name; none: the thread's agent
  std::optional<std::string> model;                     ///< `provider/model`, or an id of the default provider
  std::optional<std::vector<std::string>> attachments;  ///< ids returned by `POST /files`
  Delivery delivery = Delivery::queue;
  std::optional<std::string> clientTools{};  ///< the id of what the program lends to the run
  std::optional<json::object> metadata{};    ///< of the turn
  bool may_omit_pictures = false;            ///< only mention them to a model without vision, instead of refusing them
};
const Description& describe(Tag<ChatMessage>);

/// The body of `POST /turns/:id/regenerate`.
struct AnswerAgain {
  std::optional<std::string> content;  ///< the edited question; none: unchanged
  std::optional<std::string> model;    ///< as in ChatMessage; none: the model that the message named
};
const Description& describe(Tag<AnswerAgain>);

/// The body of `POST /chat/stop`.
struct StopChat {
  std::string threadId;
};
const Description& describe(Tag<StopChat>);

/// The response: `stopped`, or `idle` if nothing was running.
struct ChatStopped {
  std::string status;
  std::string threadId;
};
const Description& describe(Tag<ChatStopped>);

}  // namespace agw
