#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/async/async_event.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "io/process/process.hpp"

namespace agw {

/// The Chrome DevTools Protocol over the pipes of a Chromium: its messages are JSON texts that end with NUL. A session
/// is a tab; the empty session is the browser itself. Used on the loop.
/// Example: src/features/browsers/devtools_test.cpp: DevToolsTest.ConnectsResponsesWithCommands
class DevTools {
public:
  /// The maximum size of a message from Chromium, such as a picture, in bytes.
  static constexpr std::size_t max_message = std::size_t{32} * 1024 * 1024;
  /// The maximum of what Chromium has not read, in bytes.
  static constexpr std::size_t max_unread = std::size_t{32} * 1024 * 1024;

  /// Receives the response: an object with the member `result` or `error`.
  using Answered = std::function<void(json::object& response)>;
  using Handler = std::function<void(const std::string& session, std::string_view method, json::object& params)>;

  /// `handle_event` is called for each event. `process` must outlive this object.
  DevTools(Loop& loop, Process& process, Handler handle_event);

  /// Reads until Chromium closes its pipe. Throws std::runtime_error if it sends something else than this protocol.
  Task<> read_all();
  /// Writes what is posted until Chromium no longer reads.
  Task<> write_all();

  /// Sends a command. Commands are sent in the order of the calls. `answered` is called exactly once, at the latest by
  /// `drop` or `end`; at once, with an error, if Chromium does not read.
  void post(const std::string& session, std::string_view method, json::object params = {}, Answered answered = {});
  /// Whether Chromium has not read so much that commands are refused.
  bool is_full() const { return output_.size() > max_unread; }
  /// Sends a command and returns the response.
  Task<json::object> call(std::string session, std::string method, json::object params);

  /// Answers all commands of a session that has ended.
  void drop(const std::string& session);
  /// Answers all commands. Later ones are answered at once.
  void end();

private:
  struct Waiting {
    std::string session;
    Answered answered;
  };
  void take(std::string_view text);
  void answer_all(const std::string* session, std::string_view why);

  Loop& loop_;
  Process& process_;
  Handler handle_event_;
  AsyncEvent written_;                       ///< pulsed when there is something to write
  std::string output_;                       ///< waits to be written
  std::map<std::int64_t, Waiting> waiting_;  ///< by the id of the command
  std::int64_t last_id_ = 0;
  bool has_ended_ = false;
};

/// The JSON text with U+FFFD instead of each escaped lone surrogate, which JavaScript strings may contain.
std::string without_lone_surrogates(std::string_view text);

}  // namespace agw
