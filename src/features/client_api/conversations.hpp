#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/threads/service.hpp"
#include "models/model.hpp"
#include "storage/database.hpp"

namespace agw {

/// A conversation as a program sends it, in a form that can be compared with a thread: one text for each message of the
/// user, and one for the agent's texts after it. White space is ignored, because programs trim texts.
class Conversation {
public:
  void add(Role role, std::string_view text);
  /// Equal for equal conversations only.
  std::string hash(const std::string& agent_id) const;
  bool empty() const { return text_.empty(); }

private:
  std::string text_;  ///< for each message its role and its text, without white space
  std::optional<Role> last_;
};

/// Finds the thread that a conversation continues: the one that had exactly these messages when an answer to a program
/// ended. Each thread has one entry, the latest.
class ContinuedThreads {
public:
  ContinuedThreads(Database& database, Threads& threads);

  /// No value if there is none, or if its turns have changed.
  Task<std::optional<Thread>> find(std::string agent_id, Conversation conversation);
  Task<> store(std::string thread_id, std::string hash);

private:
  Task<Conversation> conversation_of(std::string thread_id);

  Database& database_;
  Threads& threads_;
};

}  // namespace agw
