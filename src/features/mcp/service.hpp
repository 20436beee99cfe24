#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/group.hpp"
#include "base/wakeup.hpp"
#include "features/extensions/service.hpp"
#include "features/mcp/http_transport.hpp"
#include "features/mcp/integration.hpp"
#include "features/mcp/logins.hpp"
#include "features/mcp/server_process.hpp"
#include "features/secrets/service.hpp"
#include "io/blocking.hpp"
#include "io/http_client.hpp"
#include "io/sandbox.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The `integration` extensions: those that are enabled are connected, and what they offer are tools of agents, named
/// `<integration>__<tool>`. A change of a record connects or disconnects at once. One broken service affects no other.
class Integrations : private ExtensionObserver {
public:
  struct Options {
    std::filesystem::path home;
    std::filesystem::path data_directory;
  };
  Integrations(Loop& loop, Extensions& extensions, HttpClient& http, BlockingPool& blocking, const Secrets& secrets,
               const Sandbox& sandbox, Options options);
  ~Integrations() override;

  /// Begins to connect, in the background.
  void start();
  /// Disconnects all, quickly.
  Task<> stop();

  /// Throws NotFound `extension not found`.
  ExtensionPointer require(const std::string& id_or_name) const;

  // Logins, see McpLogins. What has changed connects anew.

  Task<StartedLogin> begin_login(ExtensionPointer extension, NewLogin wish);
  Task<> finish_login(ExtensionPointer extension, std::string redirected_to);
  Task<> forget_login(ExtensionPointer extension);

  const std::vector<ToolPointer>& tools();
  /// Calls a tool of an integration (id or name) by the service's own name for it, whether or not it is offered.
  Task<ToolOutcome> call(const ToolCall& call, std::string integration, std::string tool);
  /// Returns once each has been tried to be connected, or has had 5 s for it: so that a run that begins right behind a
  /// change has its tools.
  Task<> settled(Stop& stop);

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

  void extension_changed(const Extension& extension, ExtensionAction action, const std::string& run_id) override;
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
  Group group_;
  std::map<std::string, EntryPointer, std::less<>> entries_;  ///< by the extension's id
  std::vector<ToolPointer> tools_;
  bool tools_current_ = false;
  bool running_ = false;
  bool hurrying_ = false;  ///< the gateway stops
  Wakeup changed_;
};

}  // namespace agw
