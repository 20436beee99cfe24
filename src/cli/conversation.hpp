#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/signal_set.hpp>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "base/task.hpp"
#include "cli/client.hpp"
#include "cli/event_stream.hpp"
#include "cli/find_gateway.hpp"
#include "cli/open_again.hpp"
#include "cli/streamed_answer.hpp"

namespace agw::cli {

/// What `agw chat` was given.
struct ChatOptions {
  std::optional<std::string> message;  ///< none: standard input is the message, or a person types them
  std::optional<std::string> agent;    ///< id or name
  std::optional<std::string> thread;   ///< an id; none makes a new one
  std::optional<std::string> model;
  std::optional<std::string> mode;
  std::optional<std::string> data_dir;
};

/// A thread that a person talks on. Everything happens on the loop's thread.
class Conversation {
public:
  /// Throws StartError where no gateway runs. `printer` must outlive this.
  Conversation(Loop& loop, ChatOptions options, AnswerPrinter& printer);

  /// Says `message` and prints the answer until it ends. Ctrl-C meanwhile stops the answer; once more, and it is not
  /// waited for. A connection that breaks is made again, and nothing of the answer is lost or doubled. Throws Refused
  /// where the gateway does not take the message, and leaves no thread behind that was made for it.
  Task<StreamedAnswer::Outcome> say(std::string message);

  /// Waits no longer for the answer of the `say` under way, which ends as stopped. The gateway goes on with it.
  void give_up();

  /// Nothing before the first message of a new thread.
  const std::optional<std::string>& thread_id() const { return options_.thread; }

private:
  Task<bool> ensure_thread();
  Task<StreamedAnswer::Outcome> say_on_thread(std::string message);
  Task<std::string> post(std::string message);
  Task<> watch(asio::signal_set& interrupts, Group& group, Stop& give_up);
  Task<> stop_answer(Stop& give_up);
  Task<> post_stop();
  Task<> follow(StreamedAnswer& answer, std::unique_ptr<EventStream> events);
  Task<> catch_up(StreamedAnswer& answer);
  Task<json::object> active_run();
  Task<bool> take_missed_events(StreamedAnswer& answer);
  Task<bool> take_stored_turn(StreamedAnswer& answer);

  Loop& loop_;
  bool given_up_ = false;
  Stop* giving_up_ = nullptr;  ///< of the `say` under way
  ChatOptions options_;
  AnswerPrinter& printer_;
  FoundGateway gateway_;
  Client client_{gateway_};
};

}  // namespace agw::cli
