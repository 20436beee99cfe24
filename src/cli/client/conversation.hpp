#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/signal_set.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "cli/client/approvals.hpp"
#include "cli/client/asker.hpp"
#include "cli/client/client.hpp"
#include "cli/client/event_stream.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/client/streamed_answer.hpp"
#include "cli/output/answer_printer.hpp"

namespace agw::cli {

/// The options of `agw chat`.
struct ChatOptions {
  std::optional<std::string> message;  ///< without it, standard input is the message, or lines typed at a terminal are
  std::optional<std::string> agent;    ///< id or name
  std::optional<std::string> thread;   ///< an id; a new thread without one
  std::optional<std::string> model;
  std::optional<std::string> mode;
  std::optional<std::string> delivery;  ///< `steer` or `interrupt`; the default is `queue`
  std::optional<std::string> data_dir;
};

/// A conversation on a thread. Use it on the loop only.
class Conversation {
public:
  /// Throws StartError if no gateway runs. The references must outlive this object. `asker` asks the person who waits
  /// for the answer, if there is one.
  Conversation(Loop& loop, ChatOptions options, AnswerPrinter& printer, Asker* asker = nullptr);

  /// Sends `message` and prints the answer until it ends. Ctrl-C stops the answer; a second Ctrl-C stops waiting for
  /// it. A broken connection is restored without losing or repeating parts of the answer. Throws ResponseError if the
  /// gateway rejects the message, after deleting a thread created for it.
  Task<StreamedAnswer::Outcome> say(std::string message);

  /// Stops waiting for the answer in the current `say`, which returns as stopped. The gateway continues.
  void abandon();

  /// nullopt before the first message of a new thread.
  const std::optional<std::string>& thread_id() const { return options_.thread; }

private:
  Task<bool> ensure_thread();
  Task<StreamedAnswer::Outcome> say_on_thread(std::string message);
  Task<std::string> post(std::string message);
  Task<> watch(asio::signal_set& interrupts, TaskGroup& group, StopSource& abandon);
  Task<> stop_answer(StopSource& abandon);
  Task<> post_stop();
  Task<> stop_asking();
  Task<> follow(StreamedAnswer& answer, std::unique_ptr<EventStream> events);
  Task<> catch_up(StreamedAnswer& answer);
  Task<json::object> active_run();
  Task<bool> take_missed_events(StreamedAnswer& answer);
  Task<bool> take_stored_turn(StreamedAnswer& answer);

  Loop& loop_;
  bool abandoned_ = false;
  StopSource* abandon_ = nullptr;  ///< of the current `say`
  ChatOptions options_;
  AnswerPrinter& printer_;
  Asker* asker_;
  std::unique_ptr<Approvals> approvals_;  ///< of the current `say`
  FoundGateway gateway_;
  Client client_{gateway_};
};

}  // namespace agw::cli
