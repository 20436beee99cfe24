// The client end of the socket `/client-tools`, on which the gateway requests what the session lends. `lend` makes the
// offer, and connects if necessary. `receive` and `write` are the two directions of the socket. Each request is served
// by its own coroutine (`serve`), which the gateway can cancel.
//
// The editor itself reads and writes files, so agents see unsaved text. Only paths in the session's folder are
// forwarded. The terminal and the MCP servers act with the rights of the person, who is asked first.

#include "cli/acp/editor_tools.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/is_within.hpp"
#include "cli/acp/tool_call_update.hpp"
#include "features/approvals/exact_text.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto offer_limit = 10s;
constexpr auto event_limit = 5s;
constexpr std::int64_t usual_seconds = 120;
constexpr std::int64_t max_seconds = 600;
constexpr std::int64_t max_output = 100'000;  // bytes
constexpr std::string_view shell_tool = "Bash";

json::object terminal_tool() {
  const json::object command{{"type", "string"}, {"description", "For bash -c."}};
  const json::object time{{"type", "integer"},
                          {"minimum", 1},
                          {"maximum", max_seconds},
                          {"description", "The time limit in seconds; default 120."}};
  return {
      {"name", shell_tool},
      {"description",
       "Runs a shell command in a terminal of the person's editor, in the folder of the project, without a sandbox, "
       "and shows its output and exit code. The person is asked first."},
      {"input_schema", json::object{{"type", "object"},
                                    {"properties", json::object{{"command", command}, {"timeout_s", time}}},
                                    {"required", json::array{"command"}}}}};
}

json::object failure(std::string_view why) { return {{"output", why}, {"isError", true}}; }

std::int64_t seconds_in(const json::object& input) {
  const auto* value = input.if_contains("timeout_s");
  const auto seconds = value && value->is_int64() ? value->get_int64() : usual_seconds;
  return std::clamp<std::int64_t>(seconds, 1, max_seconds);
}

/// Describes the end of a command in the words of the gateway's own tool. `status` is nullopt if the command was
/// killed.
std::string end_of_command(const std::optional<json::object>& status) {
  if (!status) return "ended: it took too long";
  const auto signal = string_or_empty(*status, "signal");
  if (!signal.empty()) return "ended by signal " + signal;
  const auto* code = status->if_contains("exitCode");
  return fmt::format("exit code {}", code && code->is_int64() ? code->get_int64() : 0);
}

json::object command_result(std::string output, const std::optional<json::object>& status) {
  if (!output.empty() && !output.ends_with('\n')) output += '\n';
  const auto end = end_of_command(status);
  return {{"output", output + end}, {"isError", end != "exit code 0"}};
}

/// Ends a command and its terminal if nobody waits for it any more: the session was closed.
class AbandonedTerminal {
public:
  AbandonedTerminal(RpcPeer& peer, json::object terminal) : peer_(peer), terminal_(std::move(terminal)) {}
  ~AbandonedTerminal() {
    if (is_released_) return;
    peer_.request("terminal/kill", terminal_);
    peer_.request("terminal/release", terminal_);
  }
  AbandonedTerminal(const AbandonedTerminal&) = delete;
  AbandonedTerminal& operator=(const AbandonedTerminal&) = delete;

  void released() { is_released_ = true; }

private:
  RpcPeer& peer_;
  const json::object terminal_;
  bool is_released_ = false;
};

}  // namespace

EditorTools::EditorTools(Loop& loop, RpcPeer& peer, ClientAsker& asker, EventUpdates& updates, SendUpdate send_update,
                         EditorLoan loan)
    : peer_(peer),
      asker_(asker),
      updates_(updates),
      send_update_(std::move(send_update)),
      loan_(std::move(loan)),
      servers_(loop, loan_.servers, loan_.directory,
               [this](const std::string& server, const std::string& why) {
                 send_update_(notice("warning", fmt::format("The MCP server {} is not connected", server), why));
               }),
      outbox_filled_(loop),
      offered_(loop),
      updates_sent_(loop),
      group_(loop) {
  group_.on_failure([](const std::exception_ptr&) {});  // each reports its own failures; only cancellations remain
}

json::object EditorTools::offer(bool acts, bool lends_terminal) const {
  json::array tools;
  if (acts && lends_terminal) tools.push_back(terminal_tool());
  for (const auto& tool : acts ? servers_.tools() : std::vector<ToolDescription>()) {
    tools.push_back(
        json::object{{"name", tool.name}, {"description", tool.description}, {"input_schema", *tool.input_schema}});
  }
  json::object offer;
  if (!tools.empty()) offer["tools"] = std::move(tools);
  if (loan_.abilities.reads_files || loan_.abilities.writes_files)
    offer["files"] = json::object{{"read", loan_.abilities.reads_files}, {"write", loan_.abilities.writes_files}};
  if (!loan_.more_directories.empty()) {
    std::string system = "Besides the project, the person works in these folders:";
    for (const auto& directory : loan_.more_directories) system += "\n- " + directory;
    offer["system"] = system;
  }
  return offer;
}

Task<std::string> EditorTools::lend(const FoundGateway& gateway, bool acts, bool lends_terminal,
                                    StopSource& cancelled) {
  require_open();
  if (acts && !servers_.empty()) co_await servers_.connect(cancelled);
  require_open();
  auto wanted = offer(acts, lends_terminal);
  if (wanted.empty()) co_return std::string();
  wanted["type"] = "offer";
  auto text = to_json(wanted);
  if (stream_ && text == offer_ && !id_.empty()) co_return id_;
  if (!stream_) co_await connect(gateway);
  id_.clear();
  offered_.reset();
  send(wanted);
  co_await with_timeout(closing_, offer_limit, offered_.wait());
  if (id_.empty()) throw std::runtime_error("the gateway did not take what the editor lends");
  offer_ = std::move(text);
  co_return id_;
}

/// Nobody would join what a prompt starts after `close`.
void EditorTools::require_open() const {
  if (closing_.requested()) throw std::runtime_error("the session has ended");
}

Task<> EditorTools::connect(const FoundGateway& gateway) {
  std::shared_ptr<MessageStream> stream = co_await MessageStream::open(gateway, "/client-tools");
  require_open();
  stream_ = std::move(stream);
  outbox_.clear();
  group_.spawn(receive(stream_));
  group_.spawn(write(stream_));
}

Task<> EditorTools::receive(std::shared_ptr<MessageStream> stream) {
  while (auto message = co_await stream->next()) take(std::move(*message));
  for (const auto& [id, stop] : serving_) stop->request();
  id_.clear();
  offer_.clear();
  offered_.notify();
  stream_.reset();
  outbox_filled_.pulse();
}

Task<> EditorTools::write(std::shared_ptr<MessageStream> stream) {
  while (stream_ == stream) {
    if (outbox_.empty()) {
      co_await outbox_filled_.wait();
      continue;
    }
    auto message = std::move(outbox_.front());
    outbox_.pop_front();
    if (!co_await stream->send(std::move(message))) co_return;
  }
}

void EditorTools::send(const json::object& message) {
  outbox_.push_back(to_json(message));
  outbox_filled_.pulse();
}

void EditorTools::take(json::object message) {
  const auto type = string_or_empty(message, "type");
  const auto call_id = string_or_empty(message, "callId");
  if (type == "offered") {
    id_ = string_or_empty(message, "id");
    offered_.notify();
  } else if (type == "error") {
    offered_.notify();
  } else if (type == "cancel") {
    if (const auto found = serving_.find(call_id); found != serving_.end()) found->second->request();
  } else {
    const auto stop = serving_[call_id] = std::make_shared<StopSource>();
    group_.spawn(serve(std::move(message), stop));
  }
}

Task<> EditorTools::serve(json::object request, Stop stop) {
  json::object result;
  try {
    result = co_await result_of(request, *stop);
  } catch (const std::exception& error) {
    result = failure(error.what());
  }
  const auto id = string_or_empty(request, "callId");
  serving_.erase(id);
  result["type"] = "result";
  result["callId"] = id;
  send(result);
}

Task<json::object> EditorTools::result_of(const json::object& request, StopSource& stop) {
  const auto type = string_or_empty(request, "type");
  const std::filesystem::path file = string_or_empty(request, "path");
  const bool is_in_folder = is_within(file, loan_.real_directory);
  // Opened through a symlink, the folder has another name in the editor.
  const auto path = (loan_.directory / file.lexically_relative(loan_.real_directory)).lexically_normal().string();
  if (type == "read" && is_in_folder) co_return co_await read_file(path, stop);
  if (type == "write" && is_in_folder) co_return co_await write_file(path, string_or_empty(request, "content"), stop);
  if (type == "call") co_return co_await run_tool(request, stop);
  co_return failure("the editor does not have this");
}

Task<json::object> EditorTools::read_file(std::string path, StopSource& stop) {
  co_return co_await peer_.ask("fs/read_text_file", {{"sessionId", loan_.session_id}, {"path", path}}, stop);
}

Task<json::object> EditorTools::write_file(std::string path, std::string content, StopSource& stop) {
  co_await peer_.ask("fs/write_text_file",
                     {{"sessionId", loan_.session_id}, {"path", path}, {"content", std::move(content)}}, stop);
  co_return json::object();
}

Task<json::object> EditorTools::run_tool(const json::object& request, StopSource& stop) {
  const auto tool = string_or_empty(request, "tool");
  const auto* input = object_member(request, "input");
  if (!input) co_return failure("invalid input: the arguments are not a JSON object");
  auto call_id = string_or_empty(request, "toolCallId");
  // The event that the call has begun comes on another connection.
  co_await with_timeout(stop, event_limit, until_shown(call_id));
  if (auto shown = updates_.shown_id(call_id); !shown.empty()) call_id = std::move(shown);
  const auto server = servers_.server_of(tool);
  if (server.empty()) {
    if (tool != shell_tool) co_return failure("the editor's MCP server with this tool is not connected");
    co_return co_await run_command(call_id, *input, stop);
  }
  auto call = tool_call_members(tool, *input, loan_.directory);
  call["toolCallId"] = call_id;
  const auto about = fmt::format("{} is a tool of the editor's MCP server {}. It is called with:\n{}", tool,
                                 exact_text(server), exact_text(to_json(*input)));
  if (!co_await asker_.allows(std::move(call), tool, about, stop))
    co_return failure("permission denied: the person said no");
  const auto outcome = co_await servers_.call(tool, *input, stop);
  co_return json::object{{"output", outcome.output}, {"isError", outcome.is_error}};
}

Task<> EditorTools::until_shown(std::string_view call_id) {
  while (updates_.shown_id(call_id).empty()) co_await updates_sent_.wait();
}

Task<json::object> EditorTools::run_command(std::string call_id, json::object input, StopSource& stop) {
  const auto command = string_or_empty(input, "command");
  auto call = tool_call_members(std::string(shell_tool), input, loan_.directory);
  call["toolCallId"] = call_id;
  const auto about =
      fmt::format("This command runs in a terminal of the editor, without a sandbox:\n{}", exact_text(command));
  if (!co_await asker_.allows(std::move(call), std::string(shell_tool) + '\n' + command, about, stop))
    co_return failure("permission denied: the person said no");
  const json::object session{{"sessionId", loan_.session_id}};
  auto params = session;
  params["command"] = "/bin/bash";
  params["args"] = json::array{"-c", command};
  params["cwd"] = loan_.directory.string();
  params["outputByteLimit"] = max_output;
  const auto made = co_await peer_.ask("terminal/create", std::move(params), stop);
  auto terminal = session;
  terminal["terminalId"] = string_or_empty(made, "terminalId");
  AbandonedTerminal unless_released(peer_, terminal);
  updates_.keep_content(call_id);
  json::object shown{{"type", "terminal"}, {"terminalId", terminal["terminalId"]}};
  send_update_(
      {{"sessionUpdate", "tool_call_update"}, {"toolCallId", call_id}, {"content", json::array{std::move(shown)}}});
  std::optional<json::object> status;
  co_await with_timeout(stop, std::chrono::seconds(seconds_in(input)), wait_for_exit(terminal, status, stop));
  if (!status) co_await peer_.ask("terminal/kill", terminal, closing_);
  const auto output = co_await peer_.ask("terminal/output", terminal, closing_);
  co_await peer_.ask("terminal/release", terminal, closing_);
  unless_released.released();
  co_return command_result(string_or_empty(output, "output"), status);
}

/// `status` stays empty if the wait was cancelled or the editor does not know the status.
Task<> EditorTools::wait_for_exit(json::object terminal, std::optional<json::object>& status, StopSource& stop) {
  try {
    status = co_await peer_.ask("terminal/wait_for_exit", std::move(terminal), stop);
  } catch (const RpcError&) {
    status.reset();
  }
}

Task<> EditorTools::close() {
  closing_.request();
  for (const auto& [id, stop] : serving_) stop->request();
  group_.cancel();
  co_await group_.join();
  co_await servers_.close();
}

}  // namespace agw::cli
