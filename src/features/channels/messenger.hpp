#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/channels/types.hpp"

namespace agw {

/// A file of a received message, not fetched yet.
struct ReceivedFile {
  std::string id;
  std::string name;
  std::string mime;
};

/// A message that the sender refers to. Somebody else may have written it.
struct QuotedMessage {
  std::string author;
  std::string text;
};

/// A message of a person, a button that they pressed, or a chat that got another id.
struct ReceivedMessage {
  std::string update;  ///< the service's id of this update; unchanged if it is delivered again
  ChatPlace place;
  std::string message;  ///< the service's id of the message, as `OutgoingMessage::replies_to` takes it
  std::string sender;
  std::string sender_name;
  std::string text;
  std::vector<ReceivedFile> files{};
  std::string press{};        ///< the id of the press of a button; empty for a message
  std::string button{};       ///< the data of that button
  bool only_answers = false;  ///< ignored unless a request in its chat waits for an answer
  std::optional<QuotedMessage> replied_to{};
  std::string forwarded_from{};  ///< who wrote the text, if the sender only forwards it
  std::string unreadable{};      ///< why the message cannot be read, for its sender; then it has no content
  std::string moved_from{};      ///< the former id of the chat; the message then has only this and `place`
};

/// Adds what the message replies to, if anything can be shown of it, with its files.
inline void add_quoted(ReceivedMessage& message, QuotedMessage quoted, std::vector<ReceivedFile> files) {
  if (quoted.text.empty() && !files.empty()) quoted.text = files.front().name;
  if (quoted.text.empty()) return;
  message.replied_to = std::move(quoted);
  std::ranges::move(files, std::back_inserter(message.files));
}

/// The longest wait, even if a service demands a longer one.
inline constexpr std::chrono::milliseconds max_retry_after = std::chrono::minutes(30);

/// The wait after the service did not accept that it shows an unfinished answer.
inline constexpr std::chrono::milliseconds pause_after_failed_typing = std::chrono::minutes(1);

/// The result of one `Messenger::read`.
struct ReceivedBatch {
  enum class End {
    read,      ///< `messages` has all messages up to `cursor`
    retry,     ///< reading failed, but may succeed later
    conflict,  ///< another program reads this account's messages
    refused,   ///< the service does not accept the token
    stopped,
  };
  End end = End::retry;
  std::vector<ReceivedMessage> messages{};
  std::string cursor{};  ///< for the next call
  std::string error{};   ///< for people
  std::chrono::milliseconds retry_after{};
};

struct MessageButton {
  std::string label;
  std::string data;  ///< at most 64 bytes
};

/// A file to send.
struct OutgoingFile {
  std::string name;
  std::string mime;
  std::string bytes;
};

/// A message to send, or a new text for a sent message.
struct OutgoingMessage {
  ChatPlace to;
  std::string id;  ///< unchanged if the message is sent again
  std::string text;
  bool is_markdown = false;
  std::string replies_to{};
  std::string edits{};  ///< the service's id of the message to edit; empty for a new message
  std::vector<MessageButton> buttons{};
  bool is_unfinished = false;  ///< the answer is still being written
  /// Any number in mails; otherwise one, in a message without text.
  std::vector<OutgoingFile> files{};
};

struct SendResult {
  enum class End {
    sent,
    retry,      ///< not sent, but sending may succeed later
    uncertain,  ///< the service did not respond: the message may have been sent
    refused,    ///< the service will never accept the message
    stopped,
  };
  End end = End::retry;
  std::string message{};  ///< the service's id
  std::string error{};
  std::chrono::milliseconds retry_after{};  ///< zero if the service named none
};

struct FetchedFile {
  std::string bytes;
  std::string error;   ///< empty on success
  std::string mime{};  ///< if empty, the type in the message is valid
};

/// One account at a messenger: reads and sends messages in the service's protocol. The account's token may change
/// between two calls. A new messenger implements only this interface: other classes of this room handle permissions,
/// order, rates and recovery after a kill. Called on the loop.
class Messenger {
public:
  struct Traits {
    std::size_t max_units = 4096;  ///< length limit of a message, in UTF-16 code units
    bool has_buttons = false;
    bool has_drafts = false;
    /// Each reply names the message that it answers, a message may arrive twice with different update ids, and only the
    /// first line of an answer to a request counts.
    bool is_mail = false;
    bool drops_repeated = false;  ///< the service drops messages with known ids
    std::chrono::milliseconds between_messages{};
    std::chrono::milliseconds between_in_group{};
    std::size_t per_second = 30;  ///< messages in all chats together
  };

  virtual ~Messenger() = default;
  virtual const Traits& traits() const = 0;

  /// Waits for messages after `cursor`, which is empty at the first read of a new channel.
  virtual Task<ReceivedBatch> read(std::string cursor, StopSource& stop) = 0;
  virtual Task<SendResult> send(OutgoingMessage message, StopSource& stop) = 0;
  /// Shows an unfinished answer as a draft; `number` is the same for all drafts of an answer. Only with `has_drafts`.
  virtual Task<SendResult> draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) = 0;
  /// Shows that an answer is being written in the chat, or no longer. Returns when to show it again.
  virtual Task<std::chrono::milliseconds> show_typing(ChatPlace, bool /*is_typing*/, StopSource&) {
    co_return max_retry_after;
  }
  /// Responds to the press of a button with a short text. Only with `has_buttons`.
  virtual Task<> acknowledge(std::string press, std::string text, StopSource& stop) = 0;
  virtual Task<FetchedFile> fetch(ReceivedFile file, StopSource& stop) = 0;
  /// Ends background work. Must be the last call.
  virtual Task<> close() { co_return; }
};

}  // namespace agw
