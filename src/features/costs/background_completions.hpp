#pragma once

#include <optional>
#include <string>

#include "features/costs/service.hpp"
#include "models/catalog.hpp"

namespace agw {

/// Writes texts for the gateway itself, such as briefings, with the default model and outside of any thread. The cost
/// is charged to the built-in agent, within its own and the common budget.
class BackgroundCompletions {
public:
  BackgroundCompletions(Database& database, const Models& models, const Extensions& extensions, Costs& costs);

  /// Returns nullopt if no model is configured, a budget is used up, the model fails or returns no text, or `stop` was
  /// requested.
  Task<std::optional<std::string>> write(std::string instructions, std::string request, StopSource& stop);

private:
  Database& database_;
  const Models& models_;
  const Extensions& extensions_;
  Costs& costs_;
};

}  // namespace agw
