#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// A request that waits for a person: a call that the agent's stage does not allow, or a question of the agent.
enum class PermissionKind { permission, question };
std::span<const EnumName> names(Tag<PermissionKind>);

/// How it was decided. `answer` is for questions only, the first and third for permissions only.
enum class PermissionDecision { allow, deny, propose, answer };
std::span<const EnumName> names(Tag<PermissionDecision>);

/// How far a yes goes: this call, such calls in the thread, such calls of the agent.
enum class GrantScope { once, thread, agent };
std::span<const EnumName> names(Tag<GrantScope>);

/// Who decided: a person, or nobody, because the time was up, the run was stopped or the gateway was restarted.
enum class DecidedBy { person, timeout, stop, restart };
std::span<const EnumName> names(Tag<DecidedBy>);

/// A question of an agent, or of a server that it uses.
struct AskedQuestion {
  std::string question;
  std::vector<std::string> options;  ///< proposed answers
  std::optional<json::object> form;  ///< the JSON Schema of the answer; null: a text
};
const Description& describe(Tag<AskedQuestion>);

/// A call or question that waits for a person, or did.
struct PermissionRequest {
  std::string id;
  PermissionKind kind{};
  std::string run_id;     ///< of the run whose events tell of it: that of the person's message
  std::string thread_id;  ///< of that run
  std::string agent_id;
  std::string agent;  ///< its name
  std::string tool;
  json::object input;
  std::string target;               ///< a path, a command, a host, else the tool
  std::string reason;               ///< which rule asks
  std::optional<std::string> diff;  ///< unified, of what Write and Edit would change
  Timestamp created_at{};
  Timestamp expires_at{};
  bool can_propose = false;
  std::vector<GrantScope> scopes;      ///< the possible ones; none for a question
  std::optional<std::string> pattern;  ///< what a grant would remember
  std::optional<AskedQuestion> question;

  // Null while it waits.

  std::optional<PermissionDecision> decision;
  std::optional<GrantScope> scope;
  std::optional<DecidedBy> by;
  std::optional<std::string> decision_reason;
  std::optional<json::value> answer;
  std::optional<Timestamp> decided_at;
};
const Description& describe(Tag<PermissionRequest>);

/// The query of `GET /permissions`.
struct PermissionFilter {
  std::optional<std::string> thread_id;
};
const Description& describe(Tag<PermissionFilter>);

/// The body of `POST /permissions/:id`: a decision, or the answer to a question.
struct DecidePermission {
  std::optional<PermissionDecision> decision;
  GrantScope scope = GrantScope::once;
  std::optional<std::string> reason;  ///< passed on to the agent
  std::optional<json::value> answer;  ///< a text, or what the form asks for
};
const Description& describe(Tag<DecidePermission>);

/// A permission by a person for more than one call.
struct Grant {
  std::string id;
  std::string agent_id;
  std::optional<std::string> thread_id;  ///< null: in all threads of the agent
  std::string tool;
  std::string pattern;
  GrantScope scope{};
  Timestamp created_at{};
};
const Description& describe(Tag<Grant>);

}  // namespace agw
