#pragma once

#include <cstdint>

#include "features/browsers/service.hpp"
#include "features/integrations/integration.hpp"

namespace agw {

/// Tools with which agents use the browser of their chat (docs/contract/browsers.md). Every node of a cluster can run
/// it.
class BrowserIntegration : public Integration {
public:
  BrowserIntegration(Browsers& browsers, IntegrationSettings settings);

  Task<> run(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;
  std::string problem() const override { return browsers_.problem().value_or(""); }

private:
  Browsers& browsers_;
  std::int64_t next_ref_ = 1;  ///< the lowest number that no element of any page has had
};

}  // namespace agw
