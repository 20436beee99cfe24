#pragma once

#include <optional>
#include <string>

#include "features/costs/service.hpp"
#include "models/catalog.hpp"

namespace agw {

/// Texts that the gateway itself wants, such as briefings: the default model answers them outside of any thread. They
/// count as spent by the built-in agent, within its budget and that of all.
class BackgroundCompletions {
public:
  BackgroundCompletions(Database& database, const Models& models, const Extensions& extensions, Costs& costs);

  /// Nothing where no model is configured, a budget is used up, the model fails or says nothing, and where `stop` was
  /// requested.
  Task<std::optional<std::string>> write(std::string instructions, std::string request, StopSource& stop);

private:
  Database& database_;
  const Models& models_;
  const Extensions& extensions_;
  Costs& costs_;
};

}  // namespace agw
