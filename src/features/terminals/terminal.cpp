#include "features/terminals/terminal.hpp"

#include <utility>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto check_interval = 1s;
constexpr std::chrono::milliseconds shutdown_grace{150};
/// For a client that is still displaying earlier output.
constexpr auto last_output_timeout = 2s;
/// Terminals cannot display more per period, and the loop has other work.
constexpr std::size_t max_output_per_span = std::size_t{1024} * 1024;
constexpr auto output_span = 100ms;
static_assert(PseudoTerminal::read_size <= max_output_per_span);

ProcessOptions at_terminal(ProcessOptions options, PseudoTerminal& terminal) {
  options.terminal = terminal.take_inner_side();
  return options;
}

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

Terminal::Terminal(Loop& loop, BlockingPool& blocking, TerminalLimits limits, Parts parts, DiskSpaceMonitor disks)
    : loop_(loop),
      blocking_(blocking),
      limits_(limits),
      network_(std::move(parts.network)),
      exists_(std::move(parts.exists)),
      held_(parts.process.kept),
      terminal_(loop, parts.size),
      process_(loop, at_terminal(std::move(parts.process), terminal_)),
      disks_(std::move(disks)),
      changed_(loop),
      output_ended_(loop) {}

Task<> Terminal::live() {
  AGW_ASSERT(!output_ended_.happened());
  TaskGroup working(loop_);
  working.on_failure([this](const std::exception_ptr& failure) {
    log::error("a terminal ends: {}", message_of(failure));
    end(TerminalEnd::stopped);
  });
  working.spawn(pass_output());
  working.spawn(pass_input());
  working.spawn(watch_limits());
  working.spawn(disks_.watch(blocking_, stop_));
  working.spawn(processes_.watch(stop_));
  if (co_await with_timeout(stop_, no_limit, wait_for_exit()) == WaitResult::done) {
    if (!end_) end_ = TerminalEnd::exited;
    co_await with_timeout(stop_, last_output_timeout, output_ended_.wait());
  }
  stop_.request();
  terminal_.close();
  StopSource never;
  const auto grace = end_ == TerminalEnd::stopped ? shutdown_grace : limits_.hangup_grace;
  co_await with_timeout(never, grace, wait_for_exit());
  co_await process_.end(0ms);
  working.cancel();
  co_await working.join();
  if (network_) co_await network_->close();
  // A mount point is removed only after the unmount, which must not block the loop.
  co_await blocking_.run([held = std::move(held_)] {});
  if (disks_.is_disk_low()) end_ = TerminalEnd::disk;
  if (processes_.has_too_many()) end_ = TerminalEnd::processes;
  if (client_) client_->leave(end_.value_or(TerminalEnd::stopped), exit_code_);
  client_ = nullptr;
}

Task<> Terminal::wait_for_exit() {
  const auto exit = co_await process_.wait();
  if (!stop_.requested()) exit_code_ = exit.exit_code;
}

Task<> Terminal::pass_output() {
  std::size_t taken = 0;
  auto began = std::chrono::steady_clock::now();
  for (;;) {
    while (!client_ || client_->is_behind()) co_await changed_.wait();
    const auto bytes = co_await terminal_.read();
    if (bytes.empty()) break;
    note_use();
    const auto text = decoder_.add(bytes);
    keep(text);
    if (client_ && !text.empty()) client_->send_output(text);
    taken += bytes.size();
    if (taken < max_output_per_span) continue;
    const auto passed = std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    if (passed < output_span) co_await pause(stop_, output_span - passed);
    taken = 0;
    began = std::chrono::steady_clock::now();
  }
  output_ended_.notify();
}

void Terminal::keep(std::string_view text) {
  AGW_ASSERT(kept_.size() <= 2 * max_kept);
  kept_ += text;
  if (kept_.size() > 2 * max_kept) kept_.erase(0, kept_.size() - max_kept);
  AGW_ASSERT(kept_.size() <= 2 * max_kept);
}

std::string Terminal::kept() const {
  auto at = kept_.size() - std::min(kept_.size(), max_kept);
  while (at < kept_.size() && is_inside_character(kept_[at])) ++at;
  AGW_ASSERT(kept_.size() - at <= max_kept);
  return kept_.substr(at);
}

Task<> Terminal::pass_input() {
  for (;;) {
    while (input_.empty()) co_await changed_.wait();
    if (!co_await terminal_.write(std::exchange(input_, {}))) co_return;
  }
}

void Terminal::type(std::string_view input) {
  AGW_ASSERT(input_.size() <= max_input);
  if (input_.size() + input.size() > max_input) throw TooManyRequests("the program does not read so much input");
  note_use();
  input_ += input;
  AGW_ASSERT(input_.size() <= max_input);
  changed_.pulse();
}

void Terminal::resize(TerminalSize size) { terminal_.resize(size); }

void Terminal::attach(TerminalClient& client) {
  AGW_ASSERT(client_ != &client);
  if (client_) client_->leave(TerminalEnd::moved);
  client_ = &client;
  note_use();
  changed_.pulse();
}

void Terminal::detach(const TerminalClient& client) {
  if (client_ != &client) return;
  client_ = nullptr;
  left_at_ = std::chrono::steady_clock::now();
}

void Terminal::note_shown(std::int64_t seq) {
  if (client_) client_->note_shown(seq);
  changed_.pulse();
}

void Terminal::end(TerminalEnd why) {
  if (!end_) end_ = why;
  stop_.request();
}

Task<> Terminal::watch_limits() {
  while (co_await pause(stop_, check_interval) == WaitResult::done) {
    if (const auto reached = reached_limit()) end(*reached);
  }
}

std::optional<TerminalEnd> Terminal::reached_limit() const {
  const auto now = std::chrono::steady_clock::now();
  if (exists_ && !exists_()) return TerminalEnd::deleted;
  if (now - began_ > limits_.lifetime) return TerminalEnd::lifetime;
  if (now - last_use_ > limits_.idle) return TerminalEnd::idle;
  if (!client_ && now - left_at_ > limits_.alone) return TerminalEnd::alone;
  return std::nullopt;
}

}  // namespace agw
