#include "io/process/pseudo_terminal.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <limits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/assert.hpp"

namespace agw {

using boost::system::error_code;

namespace {

Descriptor open_outer_side() {
  Descriptor outer(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!outer || ::unlockpt(outer.get()) != 0) throw_errno("cannot make a terminal");
  return outer;
}

/// Opens it through the outer side, because a container may lack its name.
Descriptor open_inner_side(int outer) {
  Descriptor inner(::ioctl(outer, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!inner || ::tcgetattr(inner.get(), &settings) != 0) throw_errno("cannot make a terminal");
  settings.c_iflag |= IUTF8;  // makes a backspace erase a whole character
  if (::tcsetattr(inner.get(), TCSANOW, &settings) != 0) throw_errno("cannot make a terminal");
  return inner;
}

void set_size(int terminal, TerminalSize size) {
  winsize window{};
  window.ws_col = size.columns;
  window.ws_row = size.rows;
  ::ioctl(terminal, TIOCSWINSZ, &window);
}

}  // namespace

PseudoTerminal::PseudoTerminal(Loop& loop, TerminalSize size) : outer_(loop) {
  auto outer = open_outer_side();
  inner_ = std::make_shared<Descriptor>(open_inner_side(outer.get()));
  set_size(outer.get(), size);
  outer_.assign(outer.release());
  AGW_ASSERT(outer_.is_open());
}

std::shared_ptr<Descriptor> PseudoTerminal::take_inner_side() {
  AGW_ASSERT(inner_);
  AGW_ASSERT(*inner_);
  return std::exchange(inner_, nullptr);
}

Task<std::string> PseudoTerminal::read() {
  std::string bytes(read_size, '\0');
  error_code error;
  const auto size =
      co_await outer_.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted && outer_.is_open()) throw boost::system::system_error(error);
  bytes.resize(error ? 0 : size);
  co_return bytes;
}

Task<bool> PseudoTerminal::write(std::string bytes) {
  error_code error;
  co_await asio::async_write(outer_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted && outer_.is_open()) throw boost::system::system_error(error);
  co_return !error;
}

void PseudoTerminal::resize(TerminalSize size) {
  AGW_DEBUG_ASSERT(size.columns > 0);
  AGW_DEBUG_ASSERT(size.rows > 0);
  AGW_DEBUG_ASSERT(size.rows < std::numeric_limits<unsigned short>::max());
  // The kernel does not report an unchanged size, so the size is changed twice.
  set_size(outer_.native_handle(), {.columns = size.columns, .rows = static_cast<unsigned short>(size.rows + 1)});
  set_size(outer_.native_handle(), size);
}

void PseudoTerminal::close() {
  error_code ignored;
  outer_.close(ignored);
}

}  // namespace agw
