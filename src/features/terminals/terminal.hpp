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

/// A shell at a pseudo terminal, which outlives its client for a while. Its output is read only while a client has
/// shown what came before, so that a program without end waits instead of filling the memory. On the loop. Example:
/// src/features/terminals/terminal_test.cpp: TerminalTest.RunsAShell
class Terminal {
public:
  /// How much output is repeated when a client reconnects, in bytes.
  static constexpr std::size_t max_kept = std::size_t{64} * 1024;
  /// Input that a program has not taken, in bytes.
  static constexpr std::size_t max_input = std::size_t{1024} * 1024;

  struct Parts {
    ProcessOptions process;  ///< of the shell
    TerminalSize size{};
    std::shared_ptr<ProxiedNetwork> network{};  ///< of its sandbox; may be null
    std::function<bool()> exists{};             ///< whether its directory is still a project's; empty: it is none
  };
  /// Starts the shell. Throws ProcessError, std::system_error.
  Terminal(Loop& loop, BlockingPool& blocking, TerminalLimits limits, Parts parts, DiskSpaceMonitor disks);

  /// Until the shell, and everything that it started, has ended. Once, at once after the construction.
  Task<> live();

  /// From now on, `client` is the one; the one before is left. It outlives `detach`.
  void attach(TerminalClient& client);
  void detach(const TerminalClient& client);
  /// The output that a reconnecting client has to see again.
  std::string kept() const;

  /// Throws TooManyRequests if the program takes nothing.
  void type(std::string_view input);
  void resize(TerminalSize size);
  void note_shown(std::int64_t seq);
  void end(TerminalEnd why);
  /// Why it has ended, or will; no value if it is still running.
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
  std::shared_ptr<void> held_;  ///< what the sandbox holds
  PseudoTerminal terminal_;
  Process process_;
  DiskSpaceMonitor disks_;
  ProcessCountMonitor processes_;
  TerminalClient* client_ = nullptr;
  AsyncEvent changed_;  ///< pulsed when output or input can go on
  AsyncEvent output_ended_;
  Utf8Decoder decoder_;
  std::string kept_;
  std::string input_;
  StopSource stop_;
  std::optional<TerminalEnd> end_;
  std::optional<int> exit_code_;
  const TimePoint began_ = std::chrono::steady_clock::now();
  TimePoint last_use_ = began_;
  TimePoint left_at_ = began_;  ///< when the last client went
};

using TerminalPointer = std::shared_ptr<Terminal>;

}  // namespace agw
