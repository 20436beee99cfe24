// Keeps an entry for each enabled integration, connects it, and collects the tools of all.
//
// An *entry* has the settings with which it was made, and a coroutine (`run`) that connects and reconnects until it is
// stopped. Active calls share ownership of their entry, so they continue after it has been replaced.
//
// The invariants: `entries_` contains exactly the enabled integrations that offer tools, each with its current
// settings; a change of descriptive texts alone does not replace an entry. `tools()` is rebuilt after each change, and
// its names are unique.
//
//   1. An event about an extension (`extension_changed`) stops the old entry, and connects a new one if required.
//   2. A change of an entry's state or tools (`changed`) invalidates `tools()` and wakes waiting callers (a test, the
//      first run after the start).
//   3. `tools()` assigns names that need no adaptation first, then the others. A name that is already taken gets a hash
//      of integration and tool.
//
// An HTTP server gets the headers that a person configured or, if none of them is `Authorization`, the token of a login
// (logins.cpp). The process of a server gets its secrets only inside a sandbox, through its proxy.
//
// Nothing of this is stored, so a kill leaves nothing behind; the process of a server ends with its pipe.

#include "features/integrations/service.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/integrations/browser_integration.hpp"
#include "features/integrations/http_integration.hpp"
#include "features/integrations/mcp_integration.hpp"
#include "features/integrations/openapi_integration.hpp"
#include "features/integrations/stdio_transport.hpp"
#include "features/permissions/service.hpp"
#include "features/placements/service.hpp"
#include "io/proxy/proxied_network.hpp"
#include "models/service_definition.hpp"
#include "tools/tool.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto close_timeout = 4000ms;
constexpr auto shutdown_close_timeout = 100ms;
constexpr auto settle_timeout = 5s;
constexpr auto test_timeout = 15s;

/// Whether the integration offers tools, unlike model services and channels, which have their own rooms.
bool offers_tools(const Extension& extension) {
  const auto& definition = extension.definition.members();
  return !is_model_service(definition) && !is_channel(definition);
}

IntegrationStatus status_of(const Integration& integration) {
  if (!integration.problem().empty() && integration.has_tried()) return IntegrationStatus::failed;
  return integration.has_tried() ? IntegrationStatus::connected : IntegrationStatus::connecting;
}

bool may_offer(const IntegrationSettings& settings, const std::string& tool) {
  return !settings.allowed_tools || settings.allowed_tools->contains(tool);
}

constexpr std::string_view bearer = "Bearer ";

bool has_credentials(const IntegrationSettings& settings) {
  return std::ranges::any_of(settings.headers,
                             [](const auto& header) { return boost::iequals(header.name, "Authorization"); });
}

Task<PersonAnswer> ask_and_count(WaitClock& waits, const AskPerson& ask, PersonQuestion question, StopSource& stop) {
  const WaitClock::Wait wait(waits);
  co_return co_await ask(std::move(question), stop);
}

/// The remaining part of `settle_timeout`.
std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point began) {
  return std::chrono::ceil<std::chrono::milliseconds>(began + settle_timeout - std::chrono::steady_clock::now());
}

}  // namespace

/// An enabled integration; kept alive by active calls.
struct Integrations::Entry {
  IntegrationSettings settings;
  std::unique_ptr<Integration> integration;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  StopSource stop;
};

Integrations::Integrations(Loop& loop, Hub& hub, Extensions& extensions, HttpClient& http, BlockingPool& blocking,
                           const Secrets& secrets, const Sandbox& sandbox, Browsers& browsers, Options options)
    : loop_(loop),
      extensions_(extensions),
      http_(http),
      blocking_(blocking),
      secrets_(secrets),
      sandbox_(sandbox),
      browsers_(browsers),
      options_(std::move(options)),
      logins_(loop, http, blocking, secrets),
      group_(loop),
      changed_(loop),
      listening_(hub, *this) {
  if (options_.placements) {
    options_.placements->on_change([this](const std::string& id) {
      if (const auto found = entries_.find(id); found != entries_.end())
        found->second->integration->placement_changed();
    });
  }
  group_.on_failure([](const std::exception_ptr& failure) {
    log::error("an integration has stopped: {}; disable and enable it to try again", message_of(failure));
  });
}

Integrations::~Integrations() = default;

void Integrations::start() {
  AGW_ASSERT(!running_);
  AGW_ASSERT(entries_.empty());
  running_ = true;
  for (const auto& extension : extensions_.list({.type = ExtensionType::integration, .enabled = true})) {
    extension_changed(*extension, false);
  }
}

Task<> Integrations::stop() {
  running_ = false;
  is_stopping_ = true;
  for (const auto& [id, entry] : entries_) entry->stop.request();
  co_await group_.join();
  co_await logins_.stop();
  entries_.clear();
  tools_.clear();
}

void Integrations::deliver(const DomainEvent& event) {
  const auto* extension = event.record.as<Extension>();
  if (extension) extension_changed(*extension, event.name == "extension.deleted");
}

void Integrations::extension_changed(const Extension& extension, bool is_deleted) {
  if (extension.type != ExtensionType::integration || !running_) return;
  const bool should_connect = extension.enabled && !is_deleted && offers_tools(extension);
  const auto connected = entries_.find(extension.id);
  // Keeps the entry if only descriptive texts have changed, so that active calls continue.
  if (should_connect && connected != entries_.end() && connected->second->settings == integration_settings(extension))
    return;
  disconnect(extension.id);
  if (should_connect) connect(extension);
  changed();
}

void Integrations::connect(const Extension& extension) {
  AGW_ASSERT(!entries_.contains(extension.id));
  const auto entry = std::make_shared<Entry>();
  entry->settings = integration_settings(extension);
  entry->integration = make(entry->settings);
  AGW_ASSERT(entry->integration);
  AGW_ASSERT(entry->settings.id == extension.id);
  entry->integration->on_change([this] { changed(); });
  entries_[extension.id] = entry;
  group_.spawn(run(entry));
}

void Integrations::disconnect(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  found->second->stop.request();
  entries_.erase(found);
}

ExtensionPointer Integrations::require(const std::string& id_or_name) const {
  const auto extension = extensions_.find(ExtensionType::integration, id_or_name);
  if (!extension) throw extension_not_found();
  return extension;
}

void Integrations::reconnect(const std::string& id) {
  disconnect(id);
  if (const auto extension = extensions_.find(id)) extension_changed(*extension, false);
}

IntegrationState Integrations::state_of(const Extension& extension) const {
  IntegrationState state{
      .id = extension.id, .name = extension.name, .kind = string_or_empty(extension.definition.members(), "kind")};
  const auto found = entries_.find(extension.id);
  if (found == entries_.end()) return state;
  const auto& integration = *found->second->integration;
  state.status = status_of(integration);
  if (state.status == IntegrationStatus::failed) state.problem = integration.problem();
  for (const auto& tool : integration.tools()) {
    if (may_offer(integration.settings(), tool.name)) state.tools.push_back({tool.name, tool.description});
  }
  return state;
}

std::vector<IntegrationState> Integrations::states() const {
  std::vector<IntegrationState> states;
  for (const auto& extension : extensions_.list({.type = ExtensionType::integration})) {
    if (offers_tools(*extension)) states.push_back(state_of(*extension));
  }
  return states;
}

Task<IntegrationState> Integrations::test(ExtensionPointer extension) {
  if (!offers_tools(*extension)) throw NotFound("the integration offers no tools");
  if (!extension->enabled) throw Conflict("the integration is disabled: enable it to test it");
  reconnect(extension->id);
  const auto found = entries_.find(extension->id);
  if (found != entries_.end()) {
    const auto entry = found->second;
    const auto until = std::chrono::steady_clock::now() + test_timeout;
    while (!entry->integration->has_tried()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left <= 0ms || co_await with_timeout(entry->stop, left, changed_.wait()) == WaitResult::stopped) break;
    }
  }
  co_return state_of(*extension);
}

Task<StartedLogin> Integrations::begin_login(ExtensionPointer extension, NewLogin spec) {
  co_return co_await logins_.begin(integration_settings(*extension), std::move(spec));
}

Task<> Integrations::finish_login(ExtensionPointer extension, std::string redirected_to) {
  co_await logins_.finish(integration_settings(*extension), std::move(redirected_to));
  reconnect(extension->id);
}

Task<> Integrations::forget_login(ExtensionPointer extension) {
  if (co_await logins_.forget(integration_settings(*extension))) reconnect(extension->id);
}

Task<> Integrations::run(EntryPointer entry) { co_await entry->integration->run(entry->stop); }

void Integrations::changed() {
  tools_current_ = false;
  changed_.pulse();
}

std::unique_ptr<Integration> Integrations::make(IntegrationSettings settings) {
  switch (settings.kind) {
    case IntegrationKind::mcp_stdio:
      return options_.placements ? make_placed(std::move(settings)) : make_stdio(std::move(settings));
    case IntegrationKind::mcp_http:
      return make_http_server(std::move(settings));
    case IntegrationKind::openapi:
      return std::make_unique<OpenApiIntegration>(http_, blocking_, secrets_, std::move(settings));
    case IntegrationKind::browser:
      return std::make_unique<BrowserIntegration>(browsers_, std::move(settings));
    case IntegrationKind::http:
      break;
  }
  return std::make_unique<HttpIntegration>(http_, blocking_, secrets_, std::move(settings));
}

Task<ServerProcess> Integrations::process_of(IntegrationSettings settings) {
  if (!settings.secrets.empty() && !sandbox_.is_enabled()) throw ProcessError(no_secrets_without_sandbox);
  auto [used, filled] = co_await blocking_.run([&secrets = secrets_, declared = settings.secrets] {
    FilledSecrets noted;
    auto found = secrets.for_program(declared, &noted);
    return std::pair(std::move(found), std::move(noted));
  });
  std::shared_ptr<ProxiedNetwork> network;
  if (sandbox_.is_enabled()) {
    const auto log_refusal = [name = settings.name](const std::string& reason) {
      log::warn("integration {}: {}", name, reason);
    };
    network = std::make_shared<ProxiedNetwork>(
        loop_, blocking_, program_policy(settings.program, extensions_, log_refusal), std::move(used));
  }
  co_return co_await blocking_.run(
      [&secrets = secrets_, &sandbox = sandbox_, network, settings, options = options_, values = std::move(filled)] {
        return server_process(settings, secrets, values, sandbox, network, options.home, options.data_directory);
      });
}

std::unique_ptr<Integration> Integrations::make_stdio(IntegrationSettings settings) {
  const auto transport = [this, settings] {
    return std::make_unique<StdioTransport>(loop_, settings.name, [this, settings] { return process_of(settings); });
  };
  return std::make_unique<McpIntegration>(loop_, std::move(settings), "", transport,
                                          [this] { return is_stopping_ ? shutdown_close_timeout : close_timeout; });
}

std::unique_ptr<Integration> Integrations::make_placed(IntegrationSettings settings) {
  AGW_ASSERT(options_.placements);
  auto make = [this, settings] { return make_stdio(settings); };
  auto has_successor = [this, id = settings.id] { return is_stopping_ || has_server(id); };
  return std::make_unique<PlacedIntegration>(
      std::move(settings),
      PlacedIntegration::Services{loop_, *options_.placements, std::move(make), std::move(has_successor)});
}

/// Whether the integration has a process, on this or another node.
bool Integrations::has_server(const std::string& id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second->settings.kind == IntegrationKind::mcp_stdio;
}

/// Adds the token of a login if the person configured no credentials.
Task<ServiceAddress> Integrations::address_of(IntegrationSettings settings) {
  auto address = co_await blocking_.run([&secrets = secrets_, settings] { return filled_address(secrets, settings); });
  if (has_credentials(settings)) co_return address;
  const auto token = co_await logins_.token(settings);
  if (!token.empty()) address.headers.push_back({"Authorization", std::string(bearer) + token});
  co_return address;
}

Task<bool> Integrations::handle_refusal(IntegrationSettings settings, McpRefusal refusal) {
  if (has_credentials(settings)) co_return false;
  auto sent = refusal.authorization.starts_with(bearer) ? refusal.authorization.substr(bearer.size()) : std::string();
  co_return co_await logins_.handle_refusal(std::move(settings), std::move(refusal.challenge), std::move(sent));
}

std::unique_ptr<Integration> Integrations::make_http_server(IntegrationSettings settings) {
  const auto transport = [this, settings] {
    McpHttpServer server{
        .name = settings.name,
        .may_be_private = settings.is_persons,
        .address = [this, settings] { return address_of(settings); },
        .on_refusal = [this, settings](McpRefusal refusal) { return handle_refusal(settings, std::move(refusal)); }};
    return std::make_unique<HttpTransport>(loop_, http_, std::move(server));
  };
  const auto host = WebUrl::host_of(settings.url);
  return std::make_unique<McpIntegration>(loop_, std::move(settings), host, transport,
                                          [this] { return is_stopping_ ? shutdown_close_timeout : close_timeout; });
}

const std::vector<ToolPointer>& Integrations::tools() {
  if (!std::exchange(tools_current_, true)) {
    tools_.clear();
    const auto found = offers();
    std::set<std::string, std::less<>> given;
    // Unchanged names take precedence over adapted ones.
    for (const bool is_exact : {true, false}) {
      for (const auto& offer : found) {
        if (offer.is_exact != is_exact) continue;
        auto name = offer.name;
        if (given.contains(name)) {
          name = hashed_tool_name_of(offer.entry->integration->settings().name, offer.tool->name);
        }
        if (given.insert(name).second) tools_.push_back(tool_of(offer.entry, *offer.tool, std::move(name)));
      }
    }
    AGW_ASSERT(tools_.size() == given.size());
  }
  return tools_;
}

std::vector<Integrations::Offer> Integrations::offers() const {
  std::vector<Offer> found;
  for (const auto& [id, entry] : entries_) {
    const auto& settings = entry->integration->settings();
    for (const auto& offered : entry->integration->tools()) {
      if (!may_offer(settings, offered.name)) continue;
      auto name = tool_name_of(settings.name, offered.name);
      const bool is_exact = name == settings.name + "__" + offered.name;
      found.push_back({.entry = entry, .tool = &offered, .name = std::move(name), .is_exact = is_exact});
    }
  }
  return found;
}

ToolPointer Integrations::tool_of(const EntryPointer& entry, const OfferedTool& offered, std::string name) const {
  const auto& integration = entry->integration->settings().name;
  auto schema = offered.input_schema;
  schema["type"] = "object";
  if (!schema.contains("properties")) schema["properties"] = json::object();
  return std::make_shared<const Tool>(Tool{
      .description = {.name = std::move(name),
                      .description = offered.description.empty() ? fmt::format("{} of {}", offered.name, integration)
                                                                 : offered.description,
                      .input_schema = std::move(schema)},
      .kind = ToolKind::integration,
      .group = integration,
      .effect = ToolEffect::calls_out,
      .authorizes_itself = true,
      .call = [entry, tool = offered.name](const ToolCall& call) { return entry->integration->call(tool, call); }});
}

Task<ToolOutcome> Integrations::call(const ToolCall& call, std::string integration, std::string tool) {
  const auto extension = extensions_.find(ExtensionType::integration, integration);
  if (!extension) co_return failed(fmt::format("there is no integration {}", integration));
  const auto found = entries_.find(extension->id);
  if (found == entries_.end()) co_return failed(fmt::format("the integration {} is disabled", extension->name));
  const auto entry = found->second;
  if (!may_offer(entry->integration->settings(), tool)) {
    co_return failed(fmt::format("{} is not among the allowed_tools of the integration {}", tool, extension->name));
  }
  co_return co_await entry->integration->call(std::move(tool), call);
}

Task<ToolOutcome> Integrations::call_here(std::string integration, std::string tool, json::object input,
                                          StopSource& stop, AskPerson ask_person) {
  const auto found = entries_.find(integration);
  if (found == entries_.end() || !found->second->integration->is_here())
    co_return failed("the integration does not run at that node any more, try again");
  const auto entry = found->second;
  const ToolRun nobody{};
  WaitClock waits;
  ToolCall call{.id = new_id(),
                .input = std::move(input),
                .run = nobody,
                .stop = stop,
                .authorize = [](const ToolTarget&) { return Permission{}; },
                .stage = {},
                .waits = &waits};
  if (ask_person) {
    call.ask_person = [&](PersonQuestion question, StopSource& ending) {
      return ask_and_count(waits, ask_person, std::move(question), ending);
    };
  }
  co_return co_await entry->integration->call(std::move(tool), call);
}

Task<> Integrations::wait_until_tried(StopSource& stop) {
  for (;;) {
    auto left = 0ms;
    for (const auto& [id, entry] : entries_) {
      if (!entry->integration->has_tried()) left = std::max(left, time_left(entry->began));
    }
    if (left <= 0ms || co_await with_timeout(stop, left, changed_.wait()) == WaitResult::stopped) co_return;
  }
}

}  // namespace agw
