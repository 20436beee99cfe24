#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/route.hpp"
#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/integrations/http_transport.hpp"
#include "features/integrations/integration.hpp"
#include "features/integrations/logins.hpp"
#include "features/integrations/placed_integration.hpp"
#include "features/integrations/server_process.hpp"
#include "features/integrations/status_types.hpp"
#include "features/secrets/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "io/sandbox/sandbox.hpp"
#include "tools/tool.hpp"

namespace agw {

class Browsers;

/// Asks the person of a call.
using AskPerson = decltype(ToolCall::ask_person);

/// The `integration` extensions. Connects enabled ones, and offers their tools to agents as `<integration>__<tool>`.
/// Changes of records take effect immediately. A failing service does not affect the others.
class Integrations : private Subscriber {
public:
  struct Options {
    std::filesystem::path home;
    std::filesystem::path data_directory;
    Placements* placements = nullptr;  ///< null: this gateway is not a node of a cluster
  };
  Integrations(Loop& loop, Hub& hub, Extensions& extensions, HttpClient& http, BlockingPool& blocking,
               const Secrets& secrets, const Sandbox& sandbox, Browsers& browsers, Options options);
  ~Integrations() override;

  /// Starts to connect in the background.
  void start();
  /// Disconnects all integrations, with short time limits.
  Task<> stop();

  /// Throws NotFound `extension not found`.
  ExtensionPointer require(const std::string& id_or_name) const;

  // Logins: see McpLogins. A change reconnects the integration.

  Task<StartedLogin> begin_login(ExtensionPointer extension, NewLogin spec);
  Task<> finish_login(ExtensionPointer extension, std::string redirected_to);
  Task<> forget_login(ExtensionPointer extension);

  /// The integrations that offer tools, newest first, without model services and channels.
  std::vector<IntegrationState> states() const;
  /// Reconnects, and returns the state once the attempt has ended, or after 15 s. Throws Conflict if the integration is
  /// disabled, NotFound if it does not offer tools.
  Task<IntegrationState> test(ExtensionPointer extension);

  const std::vector<ToolPointer>& tools();
  /// Calls a tool of an integration (id or name) by the service's own name, whether or not the tool is offered.
  Task<ToolOutcome> call(const ToolCall& call, std::string integration, std::string tool);
  /// Calls a tool of an integration (id) that this node runs, on behalf of another node, which has checked the
  /// permission.
  Task<ToolOutcome> call_here(std::string integration, std::string tool, json::object input, StopSource& stop,
                              AskPerson ask_person);
  /// Waits until each integration has tried to connect, at most 5 s each, so that a run that starts right after a
  /// change gets the tools.
  Task<> wait_until_tried(StopSource& stop);

private:
  struct Entry;
  using EntryPointer = std::shared_ptr<Entry>;
  /// A tool of an integration, and its name for models.
  struct Offer {
    EntryPointer entry;
    const OfferedTool* tool = nullptr;
    std::string name;
    bool is_exact = false;  ///< the name contains the service's own unchanged
  };

  void deliver(const DomainEvent& event) override;
  void extension_changed(const Extension& extension, bool is_deleted);
  void connect(const Extension& extension);
  void disconnect(const std::string& id);
  Task<> run(EntryPointer entry);
  void changed();
  IntegrationState state_of(const Extension& extension) const;
  ToolPointer tool_of(const EntryPointer& entry, const OfferedTool& offered, std::string name) const;
  std::vector<Offer> offers() const;
  std::unique_ptr<Integration> make(IntegrationSettings settings);
  std::unique_ptr<Integration> make_stdio(IntegrationSettings settings);
  std::unique_ptr<Integration> make_placed(IntegrationSettings settings);
  bool has_server(const std::string& id) const;
  std::unique_ptr<Integration> make_http_server(IntegrationSettings settings);
  Task<ServerProcess> process_of(IntegrationSettings settings);
  Task<ServiceAddress> address_of(IntegrationSettings settings);
  Task<bool> handle_refusal(IntegrationSettings settings, McpRefusal refusal);
  void reconnect(const std::string& id);

  Loop& loop_;
  Extensions& extensions_;
  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  const Sandbox& sandbox_;
  Browsers& browsers_;
  Options options_;
  McpLogins logins_;
  TaskGroup group_;
  std::map<std::string, EntryPointer, std::less<>> entries_;  ///< by the extension's id
  std::vector<ToolPointer> tools_;
  bool tools_current_ = false;
  bool running_ = false;
  bool is_stopping_ = false;  ///< the gateway is stopping
  AsyncEvent changed_;
  Hub::Listening listening_;
};

/// The routes of `/integrations`, including tests and logins.
Routes integration_routes(Integrations& integrations);

}  // namespace agw
