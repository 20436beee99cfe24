#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "features/actions/http_action.hpp"
#include "features/extensions/service.hpp"
#include "features/secrets/service.hpp"
#include "io/blocking.hpp"
#include "io/http_client.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What this room needs of others.
struct ActionLinks {
  /// Calls a tool of an integration (its id or name), as the agent's call may.
  std::function<Task<ToolOutcome>(const ToolCall& call, std::string integration, std::string tool)> call_integration;
  /// Runs a command of the shell in the sandbox, with these variables and this on its standard input.
  std::function<Task<ToolOutcome>(const ToolCall& call, std::string command,
                                  std::map<std::string, std::string> environment, std::string input)>
      run_command;
};

/// The `action` extensions, as tools of their names. What is enabled is a tool from the next step of a run on.
class Actions : private ExtensionObserver {
public:
  Actions(Extensions& extensions, HttpClient& http, BlockingPool& blocking, const Clock& clock, const Secrets& secrets,
          ActionLinks links);

  /// Those that are enabled. Made anew only when an action has changed.
  const std::vector<ToolPointer>& tools();

private:
  void extension_changed(const Extension& extension, ExtensionAction change, const std::string& run_id) override;
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
  ActionLinks links_;
  std::vector<ToolPointer> tools_;
  bool current_ = false;
};

}  // namespace agw
