#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// When a message reaches its agent, if another one is being answered.
enum class Delivery {
  queue,      ///< as a question of its own, once the runs before it have ended
  steer,      ///< in the answer under way, before the model is asked again; else like `queue`
  interrupt,  ///< like `queue`, but the answer under way is stopped
};
std::span<const EnumName> names(Tag<Delivery>);

/// The body of `POST /chat`. The member after the described ones is for the gateway's own callers.
struct ChatMessage {
  std::string content;
  std::optional<std::string> threadId;                  ///< none: a new thread
  std::optional<std::string> agentId;                   ///< id or name; none: the thread's agent
  std::optional<std::string> model;                     ///< `provider/model`, or an id of the default provider
  std::optional<std::vector<std::string>> attachments;  ///< ids returned by `POST /files`
  Delivery delivery = Delivery::queue;
  std::optional<std::string> clientTools{};  ///< the id of what the program lends to the run
  std::optional<json::object> metadata{};    ///< of the turn
};
const Description& describe(Tag<ChatMessage>);

/// The body of `POST /turns/:id/regenerate`.
struct AnswerAgain {
  std::optional<std::string> content;  ///< the edited question; none: as it was
  std::optional<std::string> model;    ///< as in ChatMessage; none: the one that the message named
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
