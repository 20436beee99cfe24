#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/integrations/pending.hpp"
#include "features/integrations/server_process.hpp"
#include "features/integrations/transport.hpp"
#include "io/process/process.hpp"

namespace agw {

/// A server that is a child process and exchanges JSON messages, one per line, on its standard input and output. Output
/// is limited: too many lines that are not messages, or an overlong line, end the server, and floods of messages are
/// read slowly.
class StdioTransport : public McpTransport {
public:
  /// Prepares the process to start; throws ProcessError or SecretError.
  using Start = std::function<Task<ServerProcess>()>;

  StdioTransport(Loop& loop, std::string name, Start start);
  ~StdioTransport() override;

  Task<std::string> open(StopSource& stop) override;
  Task<RpcResponse> send_request(RpcRequest request, StopSource& stop) override;
  Task<> notify(std::string method, json::object params) override;
  void set_protocol(McpEra, std::string) override {}
  void respond(json::object reply) override { send(reply); }
  Task<std::string> wait_for_failure() override;
  Task<> close(std::chrono::milliseconds limit) override;

private:
  Task<> read_output();
  Task<> read_errors();
  Task<> write_queue();
  Task<> slow_down();
  void take_line(std::string_view line);
  void take(RpcMessage message);
  void take_errors(std::string_view bytes);
  void note_error(std::string_view line);
  void note_garbage(std::string_view line);
  std::string quoted(std::string_view line, std::size_t max_size) const;
  void send(const json::object& message);
  void fail(std::string why);

  Loop& loop_;
  std::string name_;  ///< of the integration, for the log
  Start start_;
  std::unique_ptr<Process> process_;
  std::shared_ptr<ProxiedNetwork> network_;  ///< of the process's sandbox; null: there is none
  FilledSecrets secrets_;                    ///< secrets that the process or its proxy received
  FilledSecrets withheld_;                   ///< secrets that only its proxy received
  TaskGroup group_;
  StopSource closing_;
  PendingRequests pending_;
  std::deque<std::string> queue_;
  std::size_t queued_bytes_ = 0;
  AsyncEvent queue_filled_;
  AsyncEvent failed_;
  AsyncEvent stderr_closed_;  ///< its standard error has ended
  std::string failure_;
  std::string error_line_;  ///< the incomplete line on its standard error; may contain secrets
  std::string last_error_;  ///< the last complete line; may contain secrets
  int garbage_ = 0;         ///< lines without a message since the last message
  int logged_ = 0;          ///< logged lines without a message
  int messages_ = 0;        ///< messages since `second_`
  std::chrono::steady_clock::time_point second_{};
};

}  // namespace agw
