#include "cli/output/typed_lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/json/json.hpp"

namespace agw::cli {

namespace {

/// A terminal returns at most one line at a time.
constexpr std::size_t max_line = 4096;

/// Reads a line; empty at Ctrl-D, or if `wake` becomes readable first.
std::string line_or_nothing(int wake) {
  std::array<pollfd, 2> inputs{pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                               pollfd{.fd = wake, .events = POLLIN, .revents = 0}};
  while (::poll(inputs.data(), inputs.size(), -1) < 0) {
    if (errno != EINTR) return {};
  }
  if (inputs[1].revents != 0) return {};
  std::array<char, max_line> bytes{};
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string();
}

}  // namespace

TypedLines::TypedLines(Loop& loop) : reading_(loop, 1) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "no pipe");
  woken_ = Descriptor(ends[0]);
  wake_ = Descriptor(ends[1]);
  ::tcgetattr(STDIN_FILENO, &before_);
  auto lines = before_;
  lines.c_lflag |= static_cast<tcflag_t>(ICANON) | ECHO | ECHOE | ECHOK | ISIG | IEXTEN;
  lines.c_iflag |= ICRNL;
  // Discards earlier input.
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &lines);
}

TypedLines::~TypedLines() {
  // Interrupts a wait, whose thread is joined by the destructors of members below.
  (void)!::write(wake_.get(), "", 1);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

Task<std::optional<std::string>> TypedLines::next(StopSource& over) {
  const StopSource::Listener wakes(over, [this] { (void)!::write(wake_.get(), "", 1); });
  auto line = co_await reading_.run([wake = woken_.get()] { return line_or_nothing(wake); });
  if (line.empty() || over.requested()) co_return std::nullopt;
  while (line.ends_with('\n')) line.pop_back();
  co_return to_utf8(line);
}

}  // namespace agw::cli
