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
/// them.
class Conversation {
public:
  void add(Role role, std::string_view text);
  /// Equal for conversations that are equal in this sense, with the same agent.
  std::string hash(const std::string& agent_id) const;
  bool empty() const { return text_.empty(); }

private:
  std::string text_;  ///< at each change of role, the role; then the texts without white space
  std::optional<Role> last_;
};

/// The metadata of a turn whose content includes calls and results of a program's tools as text. `text` is the part
/// that the program will send as text.
json::object program_text(std::string text);

/// Finds the thread that a conversation continues: the one that consisted of exactly these messages when an answer to a
/// program ended. Each thread has only its latest entry.
class ContinuedThreads {
public:
  ContinuedThreads(Database& database, Threads& threads);

  /// No value if there is no such thread, or its turns have changed since.
  Task<std::optional<Thread>> find(std::string agent_id, Conversation conversation);
  Task<> store(std::string thread_id, std::string hash);

private:
  Task<Conversation> conversation_of(std::string thread_id);

  Database& database_;
  Threads& threads_;
};

}  // namespace agw
