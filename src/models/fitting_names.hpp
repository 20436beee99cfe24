#pragma once

#include <string>
#include <vector>

#include "models/model.hpp"
#include "models/settings.hpp"

namespace agw {

/// Other names for tools whose own names a service refuses. Those of Anthropic's API have up to 128 characters, as MCP
/// tools of Claude Code do; OpenAI and Gemini take 64, and at Gemini the first is no digit.
/// Example: src/models/fitting_names_test.cpp: FittingNames.AreUsedInTheWholeRequest
class FittingNames {
public:
  FittingNames(const ModelRequest& request, ProviderKind kind);

  /// Whether the service accepts all names.
  bool empty() const { return changed_.empty(); }
  /// Replaces the names everywhere in the request.
  void apply(ModelRequest& request) const;
  /// Restores them in an answer.
  void restore(ModelOutcome& outcome) const;
  /// The same for a piece of it.
  Delta restored(Delta delta) const;

private:
  std::string fitting(const std::string& name) const;
  std::string own(const std::string& name) const;

  const ProviderKind kind_;
  std::vector<std::string> changed_;  ///< the tools' own names
};

}  // namespace agw
