#include "features/terminals/client.hpp"

#include <algorithm>

#include "api/socket_messages.hpp"
#include "base/async/assert.hpp"

namespace agw {

std::string_view to_text(TerminalEnd end) {
  switch (end) {
    case TerminalEnd::exited:
      return "exited";
    case TerminalEnd::closed:
      return "closed";
    case TerminalEnd::moved:
      return "moved";
    case TerminalEnd::alone:
      return "alone";
    case TerminalEnd::idle:
      return "idle";
    case TerminalEnd::lifetime:
      return "lifetime";
    case TerminalEnd::deleted:
      return "deleted";
    case TerminalEnd::disk:
      return "disk";
    case TerminalEnd::processes:
      return "processes";
    case TerminalEnd::stopped:
      return "stopped";
  }
  return {};
}

Task<std::optional<std::string>> TerminalClient::read() { return read_until(socket_, left_); }

void TerminalClient::send_output(std::string_view text) {
  send({{"type", "output"}, {"seq", ++sent_}, {"data", text}});
  AGW_ASSERT(shown_ < sent_);
}

void TerminalClient::note_shown(std::int64_t seq) {
  AGW_ASSERT(shown_ <= sent_);
  shown_ = std::clamp(seq, shown_, sent_);
  AGW_ASSERT(shown_ <= sent_);
}

void TerminalClient::leave(TerminalEnd why, std::optional<int> exit_code) {
  AGW_DEBUG_ASSERT(!left_.requested());
  json::object message{{"type", "closed"}, {"reason", to_text(why)}};
  if (exit_code) message["exitCode"] = *exit_code;
  send(message);
  left_.request();
}

}  // namespace agw
