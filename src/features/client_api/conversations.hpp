#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/threads/service.hpp"
#include "models/model.hpp"
#include "storage/database.hpp"

namespace agw {

/// A conversation as sent by a program, in a form that can be compared with a thread: consecutive messages of one role
/// count as one text. Ignores white space, because programs trim texts, and empty messages, because many programs omit
/// them. Pictures are compared by their digests, in their order.
class Conversation {
public:
  void add(Role role, std::string_view text, const std::vector<std::string>& pictures = {});
  /// Equal for conversations that are equal in this sense, with the same agent.
  std::string hash(const std::string& agent_id) const;
  bool empty() const { return text_.empty() && pictures_.empty(); }
  bool ends_with(const Conversation& end) const;
  friend bool operator==(const Conversation&, const Conversation&) = default;

private:
  std::string text_;      ///< at each change of role, the role; then the texts without white space
  std::string pictures_;  ///< the digests of all pictures
  std::optional<Role> last_;
};

/// The metadata of a turn whose content includes calls and results of a program's tools as text. `text` is the part
/// that the program will send as text.
json::object program_text(std::string text);
/// Adds the digests of those pictures of a turn that the program will send with it.
void add_program_pictures(json::object& metadata, const std::vector<std::string>& digests);

/// Finds the thread that a conversation continues: the one that consists of exactly these messages. A thread whose last
/// answer went to a program is found by its hash, of which each thread has only the latest. Others, which people wrote
/// to, are found among the `max_compared` threads of the agent that changed last.
class ContinuedThreads {
public:
  static constexpr int max_compared = 200;

  ContinuedThreads(Database& database, Threads& threads);

  /// Returns the thread's id.
  Task<std::optional<std::string>> find(std::string agent_id, Conversation conversation);
  Task<> store(std::string thread_id, std::string hash);

private:
  Task<bool> is_conversation_of(std::string thread_id, Conversation conversation);

  Database& database_;
  Threads& threads_;
};

}  // namespace agw
