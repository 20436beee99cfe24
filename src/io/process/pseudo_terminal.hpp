#pragma once

#include <memory>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/task.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

/// The width and height of a terminal in characters.
struct TerminalSize {
  unsigned short columns = 80;
  unsigned short rows = 24;
};

/// A pseudo terminal (pty(7)) as its user sees it: what programs print is read, what they read is written. Read only on
/// demand, so a program that prints too much waits. On the loop.
/// Example: src/io/process/pseudo_terminal_test.cpp: PseudoTerminalTest.ProgramsSeeATerminal
class PseudoTerminal {
public:
  static constexpr std::size_t read_size = std::size_t{16} * 1024;

  /// Throws std::system_error.
  PseudoTerminal(Loop& loop, TerminalSize size);

  /// The programs' side, for `ProcessOptions::terminal`. Once: as long as it is held here, the end is not noticed.
  std::shared_ptr<Descriptor> take_inner_side();

  /// The next bytes, `read_size` at most; empty once no program has the terminal any more.
  Task<std::string> read();
  /// Waits until all bytes were taken; false if no program has the terminal any more.
  Task<bool> write(std::string bytes);
  /// Tells the programs in the foreground, even if the size stays.
  void resize(TerminalSize size);
  /// Hangs up: programs get SIGHUP.
  void close();

private:
  asio::posix::stream_descriptor outer_;
  std::shared_ptr<Descriptor> inner_;
};

}  // namespace agw
