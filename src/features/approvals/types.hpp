#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// A request that waits for a person: a call that the agent's stage does not allow, or a question of the agent.
enum class PermissionKind { permission, question };
std::span<const EnumName> names(Tag<PermissionKind>);

/// The decision. `answer` is for questions only, `allow` and `propose` for permissions only.
enum class PermissionDecision { allow, deny, propose, answer };
std::span<const EnumName> names(Tag<PermissionDecision>);

/// The scope of a permission: this call, such calls in the thread, such calls of the agent.
enum class GrantScope { once, thread, agent };
std::span<const EnumName> names(Tag<GrantScope>);

/// The cause of a decision: a person, the timeout, a stop of the run, or a restart of the gateway.
enum class DecidedBy { person, timeout, stop, restart };
std::span<const EnumName> names(Tag<DecidedBy>);

/// A question of an agent, or of a server that it uses.
struct AskedQuestion {
  std::string question;
  std::vector<std::string> options;  ///< suggested answers
  std::optional<json::object> form;  ///< the JSON Schema of the answer; null: a text
};
const Description& describe(Tag<AskedQuestion>);

/// A call or question that waits for a person, or has been decided.
struct PermissionRequest {
  std::string id;
  PermissionKind kind{};
  std::string run_id;     ///< of the run that publishes its events: the one that answers the person's message
  std::string thread_id;  ///< of that run
  std::string agent_id;
  std::string agent;  ///< its name
  std::string tool;
  json::object input;
  std::string target;               ///< a path, a command, a host, else the tool
  std::string reason;               ///< the rule that requires a decision
  std::optional<std::string> diff;  ///< unified, of the change that Write or Edit would make
  Timestamp created_at{};
  Timestamp expires_at{};
  bool can_propose = false;
  std::vector<GrantScope> scopes;      ///< the possible ones; none for a question
  std::optional<std::string> pattern;  ///< the pattern that a grant would store
  std::optional<AskedQuestion> question;

  // Null until it is decided.

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
  std::optional<json::value> answer;  ///< a text, or a value that matches the form
};
const Description& describe(Tag<DecidePermission>);

/// A permission given by a person for more than one call.
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

/// Whether the tool is, or could be, the action of that name or a tool of the integration of that name.
bool is_tool_of(const std::string& extension_name, std::string_view tool);

}  // namespace agw
