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

/// The user's side of a pseudo terminal (pty(7)): reads the output of programs and writes their input. Reads only on
/// demand, so a program that prints faster has to wait. Use it on the loop only.
/// Example: src/io/process/pseudo_terminal_test.cpp: PseudoTerminalTest.ProgramsSeeATerminal
class PseudoTerminal {
public:
  static constexpr std::size_t read_size = std::size_t{16} * 1024;

  /// Throws std::system_error.
  PseudoTerminal(Loop& loop, TerminalSize size);

  /// The inner side, for `ProcessOptions::terminal`. Call it once: until then, the end of the programs is not detected.
  std::shared_ptr<Descriptor> take_inner_side();

  /// Reads the next bytes, at most `read_size`; empty once no program has the terminal open.
  Task<std::string> read();
  /// Waits until all bytes were read; returns false if no program has the terminal open.
  Task<bool> write(std::string bytes);
  /// Notifies the programs in the foreground, even if the size is unchanged.
  void resize(TerminalSize size);
  /// Hangs up: programs get SIGHUP.
  void close();

private:
  asio::posix::stream_descriptor outer_;
  std::shared_ptr<Descriptor> inner_;
};

}  // namespace agw
