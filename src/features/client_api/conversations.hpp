#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/threads/service.hpp"
#include "models/model.hpp"
#include "storage/database.hpp"

namespace agw {

/// A conversation as a program sends it, in a form that can be compared with a thread: one text for the messages that
/// the user sent one after the other, and one for the agent's texts after them. White space is ignored, because
/// programs trim texts, and so are empty messages, which many leave out.
class Conversation {
public:
  void add(Role role, std::string_view text);
  /// Equal for such conversations only.
  std::string hash(const std::string& agent_id) const;
  bool empty() const { return text_.empty(); }

private:
  std::string text_;  ///< for each change of the role the role, then the texts, without white space
  std::optional<Role> last_;
};

/// The metadata of a turn whose content has the calls and results of a program's tools as texts: `text` is what the
/// program itself will send.
json::object program_text(std::string text);

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
