#pragma once

#include <string>
#include <vector>

#include "base/time/time.hpp"
#include "features/actions/kinds.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/integrations/service.hpp"
#include "features/secrets/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "tools/shell/shell.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The `action` extensions, as tools with the same names. An enabled action is offered from the next step of a run.
class Actions : private Subscriber {
public:
  Actions(Hub& hub, Extensions& extensions, HttpClient& http, BlockingPool& blocking, const Clock& clock,
          const Secrets& secrets, Integrations& integrations, Shell& shell);

  /// The enabled actions. Rebuilt only after a change.
  const std::vector<ToolPointer>& tools();

private:
  void deliver(const DomainEvent& event) override;
  ToolPointer tool_of(ExtensionPointer action);
  Task<ToolOutcome> call(ExtensionPointer action, const ToolCall& call);
  Task<ToolOutcome> ask(ExtensionPointer action, const ToolCall& call);
  Task<ToolOutcome> run(const Extension& action, const ToolCall& call);
  Task<ToolOutcome> call_integration(const Extension& action, const ToolCall& call);

  Extensions& extensions_;
  HttpClient& http_;
  BlockingPool& blocking_;
  const Clock& clock_;
  const Secrets& secrets_;
  Integrations& integrations_;
  Shell& shell_;
  std::vector<ToolPointer> tools_;
  bool current_ = false;
  Hub::Listening listening_;
};

}  // namespace agw
