#include "features/terminals/service.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "api/route.hpp"
#include "api/socket_messages.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/extensions/service.hpp"
#include "features/permissions/service.hpp"
#include "features/projects/service.hpp"
#include "features/terminals/terminal.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

namespace {

constexpr auto default_agent = "assistant";
constexpr int max_side = 1000;
/// In bytes: messages are parsed on the loop.
constexpr std::size_t max_message = std::size_t{256} * 1024;
// `PseudoTerminal::resize` adds one.
static_assert(max_side < std::numeric_limits<unsigned short>::max());
// Otherwise a message could never be typed.
static_assert(max_message <= Terminal::max_input);

unsigned short side_of(const json::object& message, std::string_view name, unsigned short otherwise) {
  const auto* value = message.if_contains(name);
  if (!value || value->is_null()) return otherwise;
  if (!value->is_int64() || value->get_int64() < 1 || value->get_int64() > max_side)
    throw BadRequest(fmt::format("{} must be a whole number from 1 to {}", name, max_side));
  return static_cast<unsigned short>(value->get_int64());
}

std::optional<std::string> terminal_text(const json::object& message, std::string_view name) {
  const auto* value = message.if_contains(name);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_string()) throw BadRequest(fmt::format("{} must be a string", name));
  return std::string(value->get_string());
}

TerminalSize size_of(const json::object& message) {
  const TerminalSize standard;
  return {.columns = side_of(message, "columns", standard.columns), .rows = side_of(message, "rows", standard.rows)};
}

void take_message(Terminal& terminal, const json::object& message) {
  const auto type = string_or_empty(message, "type");
  if (type == "input") {
    terminal.type(terminal_text(message, "data").value_or(""));
  } else if (type == "shown") {
    const auto* seq = message.if_contains("seq");
    terminal.note_shown(seq && seq->is_int64() ? seq->get_int64() : 0);
  } else if (type == "resize") {
    terminal.resize(size_of(message));
  } else if (type == "close") {
    terminal.end(TerminalEnd::closed);
  } else {
    throw BadRequest("type must be input, shown, resize or close");
  }
}

void take_text(Terminal& terminal, TerminalClient& client, const std::string& text) {
  try {
    take_message(terminal, parse_message(text));
  } catch (const ApiError& error) {
    client.send(error_message(error));
  }
}

/// The policy for a person's command: the same as for any command at stage trusted.
ProxyPolicy policy_of_terminals(const Extensions& extensions) {
  return program_policy({.name = "the terminal", .source = Source::user}, extensions,
                        [](const std::string& reason) { log::info("a terminal: {}", reason); });
}

SandboxSpec spec_of(const std::filesystem::path& directory, SandboxNetwork& network) {
  return {
      .directory = directory,
      .writable = {directory},
      .network = &network,
      .environment = {{"TERM", "xterm-256color"}, {"COLORTERM", "truecolor"}, {"SHELL", "/bin/bash"}},
  };
}

/// The shell gets its own session in the sandbox, with the terminal as its controlling terminal.
const std::vector<std::string>& shell_at_terminal() {
  static const std::vector<std::string> command{"setsid", "--ctty", "/bin/bash", "-i"};
  return command;
}

/// Detaches a client from its terminal when the client ends.
struct ScopedAttachment {
  Terminal& terminal;
  TerminalClient& client;
  ~ScopedAttachment() { terminal.detach(client); }
};

/// Counts one while it exists.
class ScopedCount {
public:
  explicit ScopedCount(std::size_t& count) : count_(++count) {}
  ~ScopedCount() {
    AGW_ASSERT(count_ > 0);
    --count_;
  }
  ScopedCount(const ScopedCount&) = delete;
  ScopedCount& operator=(const ScopedCount&) = delete;

private:
  std::size_t& count_;
};

}  // namespace

Terminals::Terminals(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, const Projects& projects,
                     const Extensions& extensions, Options options)
    : loop_(loop),
      blocking_(blocking),
      sandbox_(sandbox),
      projects_(projects),
      extensions_(extensions),
      options_(std::move(options)),
      life_(loop) {
  AGW_ASSERT(options_.limits.count > 0);
  life_.on_failure([](const std::exception_ptr& failure) {
    log::error("a terminal could not be ended properly: {}", message_of(failure));
  });
}

Terminals::~Terminals() = default;

Task<> Terminals::serve(Request& /*request*/, MessageSocket& socket) {
  TerminalClient client(socket);
  Pointer terminal;
  try {
    const auto first = co_await client.read();
    if (!first) co_return;
    terminal = co_await open(parse_message(*first), client);
  } catch (const ApiError& error) {
    client.send(error_message(error));
    co_return;
  }
  const ScopedAttachment seat{*terminal, client};
  while (const auto text = co_await client.read()) take_text(*terminal, client, *text);
}

Task<Terminals::Pointer> Terminals::open(const json::object& wanted, TerminalClient& client) {
  if (string_or_empty(wanted, "type") != "open") throw BadRequest("the first message must be of type open");
  auto id = terminal_text(wanted, "id").value_or("");
  const auto found = terminals_.find(id);
  const bool is_new = found == terminals_.end();
  if (is_new) id = new_id();
  const auto size = size_of(wanted);
  auto terminal = is_new ? co_await start(wanted, id) : found->second;
  AGW_ASSERT(terminal);
  client.send({{"type", "opened"}, {"id", id}, {"isNew", is_new}});
  if (const auto kept = terminal->kept(); !kept.empty()) client.send_output(kept);
  terminal->attach(client);
  if (!is_new) terminal->resize(size);
  co_return terminal;
}

void Terminals::require_possible() const {
  if (!options_.allowed) throw Forbidden("there are no terminals: config.yaml has `terminals: deny`");
  if (!sandbox_.is_enabled()) throw Forbidden("terminals need the sandbox: remove `sandbox: none` from config.yaml");
  if (is_ending_) throw ApiError(503, "the gateway stops");
  if (terminals_.size() + starting_ >= options_.limits.count)
    throw TooManyRequests(
        fmt::format("at most {} terminals are open at the same time: close one", options_.limits.count));
}

Terminals::Place Terminals::place_for(const json::object& wanted) const {
  FileRoots roots{.home = options_.home, .data_directory = options_.data_directory};
  if (const auto id = terminal_text(wanted, "projectId")) {
    const auto project = projects_.require(*id);
    roots.project = project->path;
    return {.roots = std::move(roots), .exists = [&projects = projects_, id = project->id, path = project->path] {
              const auto now = projects.find(id);
              return now && now->path == path;
            }};
  }
  const auto agent = extensions_.find_agent(terminal_text(wanted, "agentId").value_or(default_agent));
  if (!agent) throw agent_not_found();
  roots.agent = agent->name;
  return {.roots = std::move(roots), .exists = [&extensions = extensions_, id = agent->id, name = agent->name] {
            const auto now = extensions.find_agent(id);
            return now && now->name == name;
          }};
}

Task<Terminals::Pointer> Terminals::start(const json::object& wanted, const std::string& id) {
  require_possible();
  AGW_ASSERT(!id.empty());
  AGW_ASSERT(sandbox_.is_enabled());
  auto place = place_for(wanted);
  const ScopedCount counted(starting_);
  const auto network = std::make_shared<ProxiedNetwork>(loop_, blocking_, policy_of_terminals(extensions_));
  Pointer terminal;
  try {
    AGW_ASSERT(place.roots.project || !place.roots.agent.empty());
    auto [process, disks] = co_await blocking_.run([&sandbox = sandbox_, roots = place.roots, network] {
      if (!roots.project) make_workspace(roots);
      const auto spec = spec_of(roots.working_directory(), *network);
      return std::pair(sandbox.wrap(shell_at_terminal(), spec), DiskSpaceMonitor(spec.writable));
    });
    if (is_ending_) throw ApiError(503, "the gateway stops");
    terminal = std::make_shared<Terminal>(loop_, blocking_, options_.limits,
                                          Terminal::Parts{.process = std::move(process),
                                                          .size = size_of(wanted),
                                                          .network = network,
                                                          .exists = std::move(place.exists)},
                                          std::move(disks));
  } catch (const ProcessError& error) {
    throw ApiError(503, fmt::format("no terminal can be opened: {}", error.what()));
  } catch (const std::system_error& error) {
    throw ApiError(503, fmt::format("no terminal can be opened: {}", error.what()));
  }
  AGW_ASSERT(!terminals_.contains(id));
  terminals_[id] = terminal;
  AGW_ASSERT(terminals_.size() <= options_.limits.count);
  life_.spawn(run(id, terminal));
  co_return terminal;
}

Task<> Terminals::run(std::string id, Pointer terminal) {
  co_await terminal->live();
  const auto erased = terminals_.erase(id);
  AGW_ASSERT(erased == 1);
}

Task<> Terminals::stop() {
  is_ending_ = true;
  for (const auto& [id, terminal] : terminals_) terminal->end(TerminalEnd::stopped);
  co_await life_.join();
}

Terminals::Options terminal_options(const Settings& settings, const DataDirectory& directory) {
  return {
      .allowed = settings.terminals == TerminalsMode::allow, .home = directory.home, .data_directory = directory.path};
}

Routes terminal_routes(Terminals& terminals) {
  return {
      web_socket("/terminals", "A terminal for a person, in the directory of a project", &Terminals::serve, terminals)
          .limits_body(max_message)};
}

}  // namespace agw
