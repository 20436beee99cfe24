#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/message_socket.hpp"
#include "base/json/json.hpp"
#include "features/terminals/types.hpp"

namespace agw {

/// The socket of a person who uses a terminal. Used on the loop.
class TerminalClient {
public:
  /// The maximum number of output messages that the client has not confirmed. Beyond it, the client gets no more output
  /// and the program waits.
  static constexpr std::int64_t max_ahead = 16;

  explicit TerminalClient(MessageSocket& socket) : socket_(socket) {}

  /// Returns the next message; nullopt once the socket is closed or the terminal has left.
  Task<std::optional<std::string>> read();

  void send(const json::object& message) { socket_.send(to_json(message)); }
  void send_output(std::string_view text);
  /// The client has displayed the output up to `seq`.
  void note_shown(std::int64_t seq);
  bool is_behind() const { return sent_ - shown_ >= max_ahead; }

  /// The terminal has ended or now belongs to another client. `exit_code`: of the shell, if it ended by itself.
  void leave(TerminalEnd why, std::optional<int> exit_code = {});

private:
  MessageSocket& socket_;
  StopSource left_;
  std::int64_t sent_ = 0;
  std::int64_t shown_ = 0;
};

}  // namespace agw
