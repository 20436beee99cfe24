#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <spdlog/sinks/base_sink.h>

namespace agw::log {

/// Writes lines to stderr without ever blocking: a stopped terminal, a pager or a full pipe must not stop the gateway.
/// Lines that do not fit are dropped and counted; a line with the count precedes the next line that fits. Lines are
/// never written in part.
class StandardErrorSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  /// `notice` formats the line that reports how many lines were dropped.
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
  /// stderr; reopened if it is a terminal, so that it can be non-blocking.
  int descriptor_;
  /// Bytes not yet written: at most one line and the notice before it.
  std::string waiting_;
  std::size_t left_out_ = 0;
};

}  // namespace agw::log
