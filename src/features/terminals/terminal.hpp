#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/async_event.hpp"
#include "features/terminals/client.hpp"
#include "io/process/blocking.hpp"
#include "io/process/process.hpp"
#include "io/process/pseudo_terminal.hpp"
#include "io/proxy/proxied_network.hpp"
#include "models/utf8_decoder.hpp"
#include "tools/shell/disk_space_monitor.hpp"
#include "tools/shell/process_count_monitor.hpp"

namespace agw {

/// A shell on a pseudo terminal, which outlives its client for some time. Its output is read only while a client has
/// displayed the earlier output, so that a program with endless output waits instead of filling the memory. Used on the
/// loop.
/// Example: src/features/terminals/terminal_test.cpp: TerminalTest.RunsAShell
class Terminal {
public:
  /// How much output is repeated for a client that reconnects, in bytes.
  static constexpr std::size_t max_kept = std::size_t{64} * 1024;
  /// The maximum input that the program has not read, in bytes.
  static constexpr std::size_t max_input = std::size_t{1024} * 1024;

  struct Parts {
    ProcessOptions process;  ///< of the shell
    TerminalSize size{};
    std::shared_ptr<ProxiedNetwork> network{};  ///< of its sandbox; may be null
    std::function<bool()> exists{};  ///< whether the directory still belongs to a project; empty: it is no project's
  };
  /// Starts the shell. Throws ProcessError, std::system_error.
  Terminal(Loop& loop, BlockingPool& blocking, TerminalLimits limits, Parts parts, DiskSpaceMonitor disks);

  /// Returns when the shell and everything that it started has ended. Call it once, immediately after construction.
  Task<> live();

  /// Makes `client` the current one, and leaves the previous one. `client` must exist until `detach`.
  void attach(TerminalClient& client);
  void detach(const TerminalClient& client);
  /// Returns the output to repeat for a client that reconnects.
  std::string kept() const;

  /// Throws TooManyRequests if the program does not read its input.
  void type(std::string_view input);
  void resize(TerminalSize size);
  void note_shown(std::int64_t seq);
  void end(TerminalEnd why);
  /// Returns why it has ended or is about to end; nullopt while it is running.
  std::optional<TerminalEnd> reason() const { return end_; }

private:
  Task<> pass_output();
  Task<> pass_input();
  Task<> watch_limits();
  Task<> wait_for_exit();
  std::optional<TerminalEnd> reached_limit() const;
  void keep(std::string_view text);
  void note_use() { last_use_ = std::chrono::steady_clock::now(); }

  using TimePoint = std::chrono::steady_clock::time_point;

  Loop& loop_;
  BlockingPool& blocking_;
  const TerminalLimits limits_;
  std::shared_ptr<ProxiedNetwork> network_;
  std::function<bool()> exists_;
  std::shared_ptr<void> held_;  ///< keeps resources of the sandbox alive
  PseudoTerminal terminal_;
  Process process_;
  DiskSpaceMonitor disks_;
  ProcessCountMonitor processes_;
  TerminalClient* client_ = nullptr;
  AsyncEvent changed_;  ///< pulsed when output or input can continue
  AsyncEvent output_ended_;
  Utf8Decoder decoder_;
  std::string kept_;
  std::string input_;
  StopSource stop_;
  std::optional<TerminalEnd> end_;
  std::optional<int> exit_code_;
  const TimePoint began_ = std::chrono::steady_clock::now();
  TimePoint last_use_ = began_;
  TimePoint left_at_ = began_;  ///< when the last client left
};

using TerminalPointer = std::shared_ptr<Terminal>;

}  // namespace agw
