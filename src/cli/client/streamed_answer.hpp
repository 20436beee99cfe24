#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "cli/output/answer_printer.hpp"

namespace agw::cli {

/// Follows the run that answers one message, or into which the message was steered, by its events, and prints it.
/// Counts each event once, whether it arrives from the WebSocket or by catching up, and detects gaps.
/// Example: src/cli/client/streamed_answer_test.cpp: StreamedAnswer.PrintsTextAsItComesAndEndsItsLine
class StreamedAnswer {
public:
  enum class Progress {
    in_progress,
    missed,  ///< the event is not the next one: catch up from `last_sequence`
    ended,
  };
  enum class Outcome { finished, failed, stopped };

  /// `turn_id` is the user's turn, which identifies the answer until the run's id is known. `printer` must outlive this
  /// object.
  StreamedAnswer(std::string turn_id, AnswerPrinter& printer) : turn_id_(std::move(turn_id)), printer_(printer) {}

  /// Handles an event from the WebSocket. Ignores events of other runs until one reports that the message has joined
  /// it.
  Progress take(const json::object& event);

  /// Handles an event from the list for catching up, which has no gaps.
  Progress take_caught_up(const json::object& event);

  /// Handles the assistant's stored turn when the run's events no longer exist: prints the missing text.
  void take_stored(const json::object& turn);

  const std::string& turn_id() const { return turn_id_; }
  const std::optional<std::string>& run_id() const { return run_id_; }  ///< known after the first event
  void set_run_id(std::string id) { run_id_ = std::move(id); }
  std::int64_t last_sequence() const { return sequence_; }  ///< 0 before the first event
  std::optional<Outcome> outcome() const { return outcome_; }

private:
  bool joins(const json::object& event);
  bool is_of_this_run(const json::object& event) const;
  void show(const json::object& event);
  void print_text(std::string_view text);
  void show_tool(const json::object& event, bool ended);
  void finish(std::string_view reason);
  void stop();

  std::string turn_id_;
  AnswerPrinter& printer_;
  std::optional<std::string> run_id_;
  std::int64_t sequence_ = 0;
  std::size_t text_size_ = 0;  ///< bytes of the answer's text so far
  bool joined_ = false;        ///< the message joined an answer that had already begun
  bool has_printed_ = false;
  std::optional<Outcome> outcome_;
};

}  // namespace agw::cli
