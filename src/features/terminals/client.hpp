#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/message_socket.hpp"
#include "base/json/json.hpp"
#include "features/terminals/types.hpp"

namespace agw {

/// The socket of somebody who sits at a terminal. On the loop.
class TerminalClient {
public:
  /// How many messages of output may be on the way: a client that shows none for a time gets no more, and the program
  /// waits.
  static constexpr std::int64_t max_ahead = 16;

  explicit TerminalClient(MessageSocket& socket) : socket_(socket) {}

  /// The next message; no value once the socket is closed, or the terminal has left.
  Task<std::optional<std::string>> read();

  void send(const json::object& message) { socket_.send(to_json(message)); }
  void send_output(std::string_view text);
  /// The client has shown the output up to that one.
  void note_shown(std::int64_t seq);
  bool is_behind() const { return sent_ - shown_ >= max_ahead; }

  /// The terminal is not there any more, or somebody else's. `exit_code`: of the shell, if that ended by itself.
  void leave(TerminalEnd why, std::optional<int> exit_code = {});

private:
  MessageSocket& socket_;
  StopSource left_;
  std::int64_t sent_ = 0;
  std::int64_t shown_ = 0;
};

}  // namespace agw
