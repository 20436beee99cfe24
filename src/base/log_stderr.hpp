#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <spdlog/sinks/base_sink.h>

namespace agw::log {

/// Writes lines to stderr and never waits for whoever reads it: a stopped terminal, a pager or a pipe that nobody
/// empties would stop the gateway with it. Lines that find no room are left out and counted, and the next one that does
/// is preceded by a line about them. A line that was begun is always ended.
class StandardErrorSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  /// `notice` is what to log about so many lines that were left out, in the log's format.
  explicit StandardErrorSink(std::function<std::string(std::size_t left_out)> notice);
  ~StandardErrorSink() override;
  StandardErrorSink(const StandardErrorSink&) = delete;
  StandardErrorSink& operator=(const StandardErrorSink&) = delete;

protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override { write_waiting(); }

private:
  void append(const spdlog::details::log_msg& message);
  bool has_room() const;
  void write_waiting();

  std::function<std::string(std::size_t)> notice_;
  /// stderr, opened anew where it is a terminal.
  int descriptor_;
  /// What is still to be written: at most one line and the notice before it.
  std::string waiting_;
  std::size_t left_out_ = 0;
};

}  // namespace agw::log
