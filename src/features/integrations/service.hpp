#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/integrations/http_transport.hpp"
#include "features/integrations/integration.hpp"
#include "features/integrations/logins.hpp"
#include "features/integrations/server_process.hpp"
#include "features/secrets/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "io/sandbox/sandbox.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The `integration` extensions: those that are enabled are connected, and what they offer are tools of agents, named
/// `<integration>__<tool>`. A change of a record connects or disconnects at once. One broken service affects no other.
class Integrations : private Subscriber {
public:
  struct Options {
    std::filesystem::path home;
    std::filesystem::path data_directory;
  };
  Integrations(Loop& loop, Hub& hub, Extensions& extensions, HttpClient& http, BlockingPool& blocking,
               const Secrets& secrets, const Sandbox& sandbox, Options options);
  ~Integrations() override;

  /// Begins to connect, in the background.
  void start();
  /// Disconnects all, quickly.
  Task<> stop();

  /// Throws NotFound `extension not found`.
  ExtensionPointer require(const std::string& id_or_name) const;

  // Logins, see McpLogins. What has changed connects anew.

  Task<StartedLogin> begin_login(ExtensionPointer extension, NewLogin spec);
  Task<> finish_login(ExtensionPointer extension, std::string redirected_to);
  Task<> forget_login(ExtensionPointer extension);

  const std::vector<ToolPointer>& tools();
  /// Calls a tool of an integration (id or name) by the service's own name for it, whether or not it is offered.
  Task<ToolOutcome> call(const ToolCall& call, std::string integration, std::string tool);
  /// Returns once each has been tried to be connected, or has had 5 s for it: so that a run that begins right behind a
  /// change has its tools.
  Task<> settled(StopSource& stop);

private:
  struct Entry;
  using EntryPointer = std::shared_ptr<Entry>;
  /// A tool of one of them, and its name for models.
  struct Offer {
    EntryPointer entry;
    const OfferedTool* tool = nullptr;
    std::string name;
    bool is_exact = false;  ///< the name is the service's own
  };

  void deliver(const DomainEvent& event) override;
  void follow(const Extension& extension, bool is_deleted);
  void connect(const Extension& extension);
  void disconnect(const std::string& id);
  Task<> live(EntryPointer entry);
  void changed();
  ToolPointer tool_of(const EntryPointer& entry, const OfferedTool& offered, std::string name) const;
  std::vector<Offer> offers() const;
  std::unique_ptr<Integration> make(IntegrationSettings settings);
  std::unique_ptr<Integration> make_stdio(IntegrationSettings settings);
  std::unique_ptr<Integration> make_http_server(IntegrationSettings settings);
  Task<ServerProcess> process_of(IntegrationSettings settings);
  Task<ServiceAddress> address_of(IntegrationSettings settings);
  Task<bool> refused(IntegrationSettings settings, McpRefusal refusal);
  void connect_anew(const std::string& id);

  Loop& loop_;
  Extensions& extensions_;
  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  const Sandbox& sandbox_;
  Options options_;
  McpLogins logins_;
  TaskGroup group_;
  std::map<std::string, EntryPointer, std::less<>> entries_;  ///< by the extension's id
  std::vector<ToolPointer> tools_;
  bool tools_current_ = false;
  bool running_ = false;
  bool hurrying_ = false;  ///< the gateway stops
  AsyncEvent changed_;
  Hub::Listening listening_;
};

}  // namespace agw
