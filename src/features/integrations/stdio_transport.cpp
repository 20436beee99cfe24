#include "features/integrations/stdio_transport.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "features/secrets/service.hpp"
#include "models/frames.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto max_stdio_call_time = 600s;
constexpr int max_garbage = 1000;
constexpr int max_logged_garbage = 3;  // per process, because its output is unlimited
constexpr int max_messages_per_second = 2000;
constexpr std::size_t max_queued_bytes = 32 * 1024 * 1024;
constexpr auto stderr_grace = 500ms;
constexpr std::size_t max_error_line = 128 * 1024;  // bytes of a line that are kept for quoting
constexpr std::size_t max_quoted_length = 1000;
constexpr std::size_t max_logged_length = 200;
static_assert(max_queued_bytes > max_message_bytes);

}  // namespace

StdioTransport::StdioTransport(Loop& loop, std::string name, Start start)
    : loop_(loop),
      name_(std::move(name)),
      start_(std::move(start)),
      group_(loop),
      pending_(loop),
      queue_filled_(loop),
      failed_(loop),
      stderr_closed_(loop) {}

StdioTransport::~StdioTransport() = default;

Task<std::string> StdioTransport::open(StopSource&) {
  AGW_ASSERT(!process_);
  try {
    auto start = co_await start_();
    secrets_ = std::move(start.secrets);
    withheld_ = std::move(start.withheld);
    start.options.separate_stderr = true;
    process_ = std::make_unique<Process>(loop_, std::move(start.options));
    network_ = std::move(start.network);
  } catch (const ProcessError& error) {
    co_return error.what();
  } catch (const SecretError& error) {
    co_return error.what();
  }
  group_.spawn(read_output());
  group_.spawn(read_errors());
  group_.spawn(write_queue());
  co_return "";
}

Task<RpcResponse> StdioTransport::send_request(RpcRequest request, StopSource& stop) {
  const auto id = pending_.next_id();
  PendingRequests::Waiting waiting(pending_, id);
  add_progress_token(request.params, id);
  send(rpc_request(id, request.method, std::move(request.params)));
  auto response = co_await waiting.response(request.limit, std::max<milliseconds>(request.limit, max_stdio_call_time),
                                            stop, request.waits);
  const bool is_given_up = response.timed_out || stop.requested();
  if (is_given_up && request.method != "initialize") {
    send(rpc_notification("notifications/cancelled", {{"requestId", id}, {"reason", "given up"}}));
  }
  co_return response;
}

Task<> StdioTransport::notify(std::string method, json::object params) {
  send(rpc_notification(method, std::move(params)));
  co_return;
}

Task<std::string> StdioTransport::wait_for_failure() {
  co_await failed_.wait();
  AGW_ASSERT(!failure_.empty());
  co_return failure_;
}

void StdioTransport::fail(std::string why) {
  AGW_ASSERT(!why.empty());
  if (failed_.happened()) return;
  AGW_ASSERT(failure_.empty());
  if (const auto said = quoted(last_error_, max_quoted_length); !said.empty()) why += "; it last said: " + said;
  failure_ = why;
  pending_.fail_all(why);
  failed_.notify();
}

/// Ends the server in the order that MCP specifies: close its input, then send signals.
Task<> StdioTransport::close(milliseconds limit) {
  fail(closed_here);
  closing_.request();
  if (process_) {
    process_->close_input();
    StopSource never;
    const auto wait = [](Process& process) -> Task<> { co_await process.wait(); };
    co_await with_timeout(never, limit / 2, wait(*process_));
    co_await process_->end(limit / 2);
  }
  if (network_) co_await network_->close();
  group_.cancel();
  co_await group_.join();
}

Task<> StdioTransport::read_output() {
  bool fits = true;
  const auto lines = split_lines([this](const Frame& frame) { take_line(frame.data); }, max_message_bytes);
  while (!failed_.happened()) {
    const auto bytes = co_await process_->read();
    if (bytes.empty()) break;
    fits = lines->feed(bytes);
    if (!fits) fail(fmt::format("it sent a message of more than {} MiB", max_message_bytes / 1024 / 1024));
    co_await slow_down();
  }
  // Standard output ends before standard error, whose last line has the reason. Children may keep the latter open.
  if (!failed_.happened()) co_await with_timeout(closing_, stderr_grace, stderr_closed_.wait());
  fail("it ended");
}

/// Prevents a flood of messages from occupying the loop.
Task<> StdioTransport::slow_down() {
  const auto now = steady_clock::now();
  if (now - second_ > 1s) {
    second_ = now;
    messages_ = 0;
  }
  if (messages_ < max_messages_per_second) co_return;
  co_await pause(closing_, std::chrono::ceil<milliseconds>(second_ + 1s - now));
}

Task<> StdioTransport::read_errors() {
  for (;;) {
    const auto bytes = co_await process_->read(ProcessStream::error);
    if (bytes.empty()) break;
    take_errors(bytes);
    messages_ += 1;
    co_await slow_down();
  }
  note_error(error_line_);
  stderr_closed_.notify();
}

/// Processes complete lines, because a secret that is split could not be removed; of an endless line, only the
/// beginning. Keeps carriage returns, because a secret may end in one.
void StdioTransport::take_errors(std::string_view bytes) {
  error_line_ += bytes;
  std::string_view rest = error_line_;
  for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    note_error(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  error_line_ = std::string(rest.substr(0, max_error_line));
  AGW_DEBUG_ASSERT(error_line_.find('\n') == error_line_.npos);
}

Task<> StdioTransport::write_queue() {
  for (;;) {
    queue_filled_.reset();
    while (!queue_.empty()) {
      auto line = std::move(queue_.front());
      queue_.pop_front();
      AGW_ASSERT(queued_bytes_ >= line.size());
      queued_bytes_ -= line.size();
      if (!co_await process_->write(std::move(line))) co_return;
    }
    co_await queue_filled_.wait();
  }
}

void StdioTransport::send(const json::object& message) {
  if (failed_.happened()) return;
  auto line = to_json(message) + "\n";
  queued_bytes_ += line.size();
  if (queued_bytes_ > max_queued_bytes) return fail("it does not read what it is sent");
  AGW_DEBUG_ASSERT(line.find('\n') == line.size() - 1);
  queue_.push_back(std::move(line));
  queue_filled_.notify();
}

void StdioTransport::take_line(std::string_view line) {
  if (failed_.happened()) return;
  ++messages_;
  auto message = read_rpc(line);
  if (message.kind == RpcMessage::Kind::invalid) return note_garbage(line);
  garbage_ = 0;
  take(std::move(message));
}

void StdioTransport::take(RpcMessage message) {
  if (message.kind == RpcMessage::Kind::response) {
    hide_in_errors(message, secrets_);
    hide_in_response(message, withheld_);
  }
  pass_on(message, pending_);
}

/// Stores the line with its secrets, because few lines are ever shown, and searching a flood of lines is slow.
void StdioTransport::note_error(std::string_view line) {
  if (line.find_first_not_of(" \t\r\v\f") == line.npos) return;
  last_error_ = line.substr(0, max_error_line);
  if (log::enabled(log::Level::debug)) log::debug("integration {}: {}", name_, quoted(line, max_logged_length));
}

void StdioTransport::note_garbage(std::string_view line) {
  ++garbage_;
  if (logged_ < max_logged_garbage) {
    ++logged_;
    log::info("integration {}: ignored a line that is not a message: {}", name_, quoted(line, max_logged_length));
  }
  if (garbage_ > max_garbage) fail("it prints what is no MCP");
}

/// The beginning of a line, with secrets removed.
std::string StdioTransport::quoted(std::string_view line, std::size_t max_size) const {
  const bool is_whole = line.size() < max_error_line;
  const auto hidden = is_whole ? secrets_.hidden_in(line) : secrets_.hidden_in_cut(line.substr(0, max_error_line));
  return to_utf8(boost::trim_copy(hidden).substr(0, max_size));
}

}  // namespace agw
