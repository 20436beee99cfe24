#include "cli/client/streamed_answer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_values.hpp"

namespace agw::cli {

StreamedAnswer::Progress StreamedAnswer::take(const json::object& event) {
  if (joins(event) || !is_of_this_run(event)) return Progress::in_progress;
  if (integer_or_zero(event, "seq") > sequence_ + 1) return Progress::missed;
  return take_caught_up(event);
}

StreamedAnswer::Progress StreamedAnswer::take_caught_up(const json::object& event) {
  const auto sequence = integer_or_zero(event, "seq");
  if (is_of_this_run(event) && sequence > sequence_ && !outcome_) {
    sequence_ = sequence;
    run_id_ = string_or_empty(event, "runId");
    show(event);
  }
  return outcome_ ? Progress::ended : Progress::in_progress;
}

/// Returns true if the message becomes part of another run's answer with this event.
bool StreamedAnswer::joins(const json::object& event) {
  if (run_id_ || string_member(event, "type") != "steered" || string_member(event, "turnId") != turn_id_) return false;
  run_id_ = string_or_empty(event, "runId");
  sequence_ = integer_or_zero(event, "seq");
  joined_ = true;
  printer_.note("(joins the answer in progress)");
  return true;
}

bool StreamedAnswer::is_of_this_run(const json::object& event) const {
  const auto run = string_member(event, "runId");
  return run && (run_id_ ? *run == *run_id_ : string_member(event, "turnId") == turn_id_);
}

void StreamedAnswer::show(const json::object& event) {
  const auto type = string_or_empty(event, "type");
  if (type == "text-delta") {
    print_text(string_or_empty(event, "delta"));
  } else if (type == "reasoning-delta") {
    printer_.reasoning(string_or_empty(event, "delta"));
  } else if (type == "tool-start" || type == "tool-end") {
    show_tool(event, type == "tool-end");
  } else if (type == "steered") {
    printer_.note("(another message has joined)");
  } else if (type == "error") {
    printer_.error(string_or_empty(event, "error"));
  } else if (type == "finish") {
    finish(string_or_empty(event, "finishReason"));
  } else if (type == "stopped") {
    stop();
  }
}

void StreamedAnswer::print_text(std::string_view text) {
  text_size_ += text.size();
  // Drops the line feeds that separate steps before the first text.
  if (joined_ && !has_printed_) text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  if (text.empty()) return;
  has_printed_ = true;
  printer_.text(text);
}

void StreamedAnswer::show_tool(const json::object& event, bool ended) {
  const auto name = string_or_empty(event, "toolName");
  if (!ended) {
    printer_.note(fmt::format("> {} {}", name, to_json(json::value(object_or_empty(event, "input")))));
  } else if (is_true(event, "isError")) {
    printer_.note(fmt::format("< {} failed: {}", name, string_or_empty(event, "output")));
  } else {
    printer_.note(fmt::format("< {} ({} ms)", name, integer_or_zero(event, "durationMs")));
  }
}

void StreamedAnswer::finish(std::string_view reason) {
  printer_.end();
  // `interrupted`: the gateway was killed, and there is no more text.
  outcome_ = reason == "error" || reason == "interrupted" ? Outcome::failed : Outcome::finished;
  if (reason != "stop" && reason != "error") printer_.note(fmt::format("(the answer ended early: {})", reason));
}

void StreamedAnswer::stop() {
  printer_.end();
  printer_.note("(stopped)");
  outcome_ = Outcome::stopped;
}

void StreamedAnswer::take_stored(const json::object& turn) {
  const auto content = string_or_empty(turn, "content");
  const auto metadata = object_or_empty(turn, "metadata");
  // The length of the text before the message joined is unknown: prints the whole answer rather than only a part.
  if (joined_) text_size_ = 0;
  if (content.size() > text_size_) printer_.text(std::string_view(content).substr(text_size_));
  text_size_ = content.size();
  const auto reason = string_or_empty(metadata, "finish_reason");
  if (reason == "stopped") return stop();
  finish(reason);
}

}  // namespace agw::cli
