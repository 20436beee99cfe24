#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// How far an agent is trusted; each may what the one before may, and more.
enum class Stage {
  apprentice,  ///< looks, and stages its changes as proposals
  operating,   ///< `operator`: changes its places and executes in the sandbox, without network
  trusted,     ///< reaches the network, makes extensions
  sovereign,   ///< enables extensions, writes its own soul
};
std::span<const EnumName> names(Tag<Stage>);

/// What an identity file holds: the answer of `GET /soul` and its like.
struct IdentityText {
  std::string content;  ///< empty without a file
};
const Description& describe(Tag<IdentityText>);

/// The body of `PUT /soul` and its like: 102,400 bytes at most.
struct NewIdentityText {
  std::string content;
};
const Description& describe(Tag<NewIdentityText>);

/// The answer to what has no other result: `{"status": "ok"}`.
struct IdentityWritten {
  std::string status = "ok";
};
const Description& describe(Tag<IdentityWritten>);

/// One change of an agent's stage.
struct StageStep {
  Stage from{};
  Stage to{};
  std::string reason;
  Timestamp at{};
};
const Description& describe(Tag<StageStep>);

/// `GET /agents/:name/stage`.
struct AgentStage {
  std::string agent;  ///< its name
  Stage stage{};
  std::optional<std::string> reason;    ///< of the latest change; none before the first
  std::optional<Timestamp> updated_at;  ///< of the latest change
  std::vector<StageStep> history;       ///< in the order in which it happened
};
const Description& describe(Tag<AgentStage>);

/// The answer of `PATCH /agents/:name/stage`.
struct ChangedAgentStage : AgentStage {
  std::string status = "ok";
};
const Description& describe(Tag<ChangedAgentStage>);

/// The body of `PATCH /agents/:name/stage`.
struct StageChange {
  Stage stage{};
  std::string reason;
};
const Description& describe(Tag<StageChange>);

}  // namespace agw
