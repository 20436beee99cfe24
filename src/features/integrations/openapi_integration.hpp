#pragma once

#include <memory>

#include "features/integrations/http_integration.hpp"
#include "features/integrations/integration.hpp"
#include "features/integrations/openapi.hpp"

namespace agw {

/// A service described by an OpenAPI 3 document; each operation is a tool.
class OpenApiIntegration : public Integration {
public:
  OpenApiIntegration(HttpClient& http, BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings);

  Task<> run(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;
  std::string problem() const override { return problem_; }

private:
  Task<std::string> load(StopSource& stop);

  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  std::shared_ptr<const ApiDescription> description_;  ///< null until the document has been read
  std::string problem_ = "it was not read yet";
};

}  // namespace agw
