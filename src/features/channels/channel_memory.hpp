#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/approvals/types.hpp"
#include "features/channels/types.hpp"

namespace agw {

/// A permission request or question that was put to the people of a channel.
struct AskedRequest {
  struct Choice {
    std::string label;
    DecidePermission decision;
  };
  /// One of the chats in which it stands.
  struct Copy {
    ChatPlace place;
    std::string person;  ///< for whom it is; in a group, others see it too
    std::string replies_to{};
    std::string message{};  ///< the service's id of it; empty: not sent yet
  };
  std::string id;
  std::string thread_id;
  std::string title;
  std::string text{};  ///< in full, with the choices; of one that is too long, only that it waits on the page
  std::vector<Choice> choices{};
  int first_number = 1;     ///< of the choices
  bool takes_text = false;  ///< any text answers it
  std::vector<Copy> copies{};
  std::string outcome{};                             ///< empty while it is pending
  std::chrono::steady_clock::time_point ended_at{};  ///< if it is not

  bool is_in(const ChatPlace& place) const;
  /// The number after the last one of its choices.
  int end_number() const { return first_number + static_cast<int>(choices.size()); }
};
using AskedRequestPointer = std::shared_ptr<AskedRequest>;

/// A person who is not in `allow`, and got a pairing code.
struct Stranger {
  std::string code;
  std::string sender;
  std::string name;
  ChatPlace place;
  std::string replies_to;
  std::chrono::steady_clock::time_point until;
  bool is_told = false;  ///< the code was sent
};

/// The memory of a channel that survives a change of its settings, which creates a new channel for the same account. A
/// restart of the gateway ends all of it.
struct ChannelMemory {
  std::vector<AskedRequestPointer> asked;  ///< those that are pending, in the order of their numbers
  std::vector<AskedRequestPointer> ended;  ///< shortly before: a late answer to one is none for the agent
  std::vector<Stranger> strangers;

  /// Removes what is too old.
  void expire();
  const Stranger* find_stranger(std::string_view code);
  void remove_stranger(std::string_view code);
  AskedRequestPointer find_asked(std::string_view id) const;
  /// A number that no request has, also none of those that have just ended.
  int next_number();
};

}  // namespace agw
