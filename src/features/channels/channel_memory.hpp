#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "features/approvals/types.hpp"
#include "features/channels/types.hpp"

namespace agw {

/// A permission request or question that was sent to the people of a channel.
struct AskedRequest {
  struct Choice {
    std::string label;
    DecidePermission decision;
  };
  /// A chat to which the request was sent.
  struct Copy {
    ChatPlace place;
    std::string person;  ///< the recipient; in a group, others see it too
    std::string replies_to{};
    std::string message{};   ///< the service's id of the message; empty before it was sent
    bool is_hidden = false;  ///< the person was removed from `allow`, and gets nothing until they are in it again
  };
  std::string id;
  std::string thread_id;
  std::string title;
  std::string text{};  ///< complete, with the choices; if too long, only a reference to the page
  std::vector<Choice> choices{};
  int first_number = 1;     ///< number of the first choice
  bool takes_text = false;  ///< any text is an answer
  std::vector<Copy> copies{};
  std::string outcome{};                             ///< empty while it is pending
  std::chrono::steady_clock::time_point ended_at{};  ///< valid once it has ended

  bool is_in(const ChatPlace& place) const;
  /// The number after that of the last choice.
  int end_number() const { return first_number + static_cast<int>(choices.size()); }
};
using AskedRequestPointer = std::shared_ptr<AskedRequest>;

/// A person who is not in `allow` and was sent a pairing code.
struct Stranger {
  std::string code;
  std::string sender;
  std::string name;
  ChatPlace place;
  std::string replies_to;
  std::chrono::steady_clock::time_point until;
  bool is_code_sent = false;
};

/// The state of a channel that survives a change of its settings, which creates a new object for the same account. It
/// is lost when the gateway restarts.
struct ChannelMemory {
  std::vector<AskedRequestPointer> asked;  ///< pending requests, in the order of their numbers
  std::vector<AskedRequestPointer> ended;  ///< recently ended: a late answer to one is not for the agent
  std::vector<Stranger> strangers;
  /// When people were told last that their messages cannot be read.
  std::map<ChatPlace, std::chrono::steady_clock::time_point> told;
  /// The threads of the open questions, until the new object has read them.
  std::set<std::string, std::less<>> threads;

  /// Removes expired codes and old requests.
  void expire();
  const Stranger* find_stranger(std::string_view code);
  void remove_stranger(std::string_view code);
  AskedRequestPointer find_asked(std::string_view id) const;
  /// A number that neither a pending nor a recently ended request has.
  int next_number();
};

}  // namespace agw
