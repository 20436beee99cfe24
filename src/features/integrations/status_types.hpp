#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The state of an integration's connection.
enum class IntegrationStatus {
  disabled,
  connecting,  ///< the first attempt has not ended
  connected,
  failed,  ///< the last attempt failed, or the connection was lost; another attempt follows
};
std::span<const EnumName> names(Tag<IntegrationStatus>);

/// A tool that an integration offers to agents.
struct IntegrationTool {
  std::string name;  ///< the service's own
  std::string description;
};
const Description& describe(Tag<IntegrationTool>);

/// An element of `GET /integrations`: an integration whose tools agents can use.
struct IntegrationState {
  std::string id;
  std::string name;
  std::string kind;
  IntegrationStatus status{};
  std::optional<std::string> problem;  ///< why it failed
  std::vector<IntegrationTool> tools;
};
const Description& describe(Tag<IntegrationState>);

}  // namespace agw
