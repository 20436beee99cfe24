#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// How far an agent is trusted. Each stage includes the rights of the previous one.
enum class Stage {
  apprentice,  ///< reads, and stages its changes as proposals
  operating,   ///< `operator`: writes to its project and workspace, runs commands in the sandbox without network
  trusted,     ///< accesses the network, creates extensions
  sovereign,   ///< enables extensions, writes its own soul
};
std::span<const EnumName> names(Tag<Stage>);

/// The text of an identity file: the response of `GET /soul` and similar.
struct IdentityText {
  std::string content;  ///< empty if there is no file
};
const Description& describe(Tag<IdentityText>);

/// The body of `PUT /soul` and similar: at most 102,400 bytes.
struct NewIdentityText {
  std::string content;
};
const Description& describe(Tag<NewIdentityText>);

/// The response of writes without another result: `{"status": "ok"}`.
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

/// The response of `GET /agents/:name/stage`.
struct AgentStage {
  std::string agent;  ///< name
  Stage stage{};
  std::optional<std::string> reason;    ///< of the latest change; null before the first
  std::optional<Timestamp> updated_at;  ///< of the latest change
  std::vector<StageStep> history;       ///< oldest first
};
const Description& describe(Tag<AgentStage>);

/// The response of `PATCH /agents/:name/stage`.
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
