#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text/ascii.hpp"
#include "cli/client/conversation.hpp"
#include "cli/client/terminal_asker.hpp"
#include "cli/command_table.hpp"
#include "cli/output/line_input.hpp"
#include "cli/output/terminal.hpp"

namespace agw::cli {

namespace {

/// A shell's exit status for a program ended by Ctrl-C: the answer is incomplete.
constexpr int interrupted = 130;
constexpr std::chrono::seconds wait_for_input{3};

int status_of(StreamedAnswer::Outcome outcome) {
  switch (outcome) {
    case StreamedAnswer::Outcome::finished:
      return static_cast<int>(ExitStatus::success);
    case StreamedAnswer::Outcome::failed:
      return static_cast<int>(ExitStatus::failure);
    case StreamedAnswer::Outcome::stopped:
      return interrupted;
  }
  return static_cast<int>(ExitStatus::failure);
}

AnswerPrinter screen() { return {std::cout, terminal_at(STDOUT_FILENO), std::cerr, terminal_at(STDERR_FILENO)}; }

std::string standard_input() {
  auto text = read_standard_input();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Whether standard input may be redirected: it is a pipe or a file.
bool is_input_redirected() {
  struct stat status{};
  return ::fstat(STDIN_FILENO, &status) == 0 && !S_ISCHR(status.st_mode);
}

/// The message followed by piped text. Programs that start this one often leave a pipe open without writing to it, so
/// the wait for its first byte or its end is limited.
std::string with_piped_text(const std::string& message) {
  if (!is_input_redirected()) return message;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(std::chrono::milliseconds(wait_for_input).count())) == 0) {
    std::cerr << fmt::format(
        "agw: nothing came on standard input within {} s: the message is sent without it. If it is meant to be empty: "
        "`< /dev/null`\n",
        wait_for_input.count());
    return message;
  }
  const auto piped = standard_input();
  return is_blank(piped) ? message : message + "\n\n" + piped;
}

void print_resume_hint(const Conversation& conversation) {
  const auto terminal = terminal_at(STDERR_FILENO);
  if (!terminal.present || !conversation.thread_id()) return;
  std::cerr << dim(terminal, fmt::format("(to continue: agw chat --thread {})", *conversation.thread_id())) << '\n';
}

Task<int> say_once(Loop& loop, const ChatOptions& options, std::string message) {
  auto printer = screen();
  TerminalAsker asker(loop, printer);
  Conversation conversation(loop, options, printer, TerminalAsker::is_possible() ? &asker : nullptr);
  const auto outcome = co_await conversation.say(std::move(message));
  if (!options.thread) print_resume_hint(conversation);
  co_return status_of(outcome);
}

Task<int> converse(Loop& loop, const ChatOptions& options) {
  auto printer = screen();
  TerminalAsker asker(loop, printer);
  Conversation conversation(loop, options, printer, TerminalAsker::is_possible() ? &asker : nullptr);
  LineInput input;
  printer.note("Ctrl-C stops an answer, Ctrl-D ends.");
  // Waiting for a line blocks the loop, which is idle between two answers.
  while (const auto line = input.read()) {
    if (is_blank(*line)) continue;
    try {
      co_await conversation.say(to_utf8(*line));
    } catch (const std::exception& error) {
      printer.error(error.what());
    }
  }
  print_resume_hint(conversation);
  co_return static_cast<int>(ExitStatus::success);
}

int chat(const ChatOptions& options) {
  if (options.agent && is_blank(*options.agent)) {
    throw StartError(ExitStatus::usage, "--agent must be the name or id of an agent: `agw ext list --type agent`");
  }
  Loop loop;
  if (!options.message && terminal_at(STDIN_FILENO).present) return run(loop, converse(loop, options));
  find_gateway(options.data_dir);  // Reports that no gateway runs before waiting for the message.
  const auto message = options.message ? with_piped_text(*options.message) : standard_input();
  if (is_blank(message)) {
    throw StartError(ExitStatus::usage, "the message is missing: give one, or pipe one in");
  }
  return run(loop, say_once(loop, options, to_utf8(message)));
}

}  // namespace

Action chat_command(Arguments& arguments) {
  auto options = std::make_shared<ChatOptions>();
  arguments.word("message", options->message,
                 "The message, which piped text follows (default: standard input, or lines typed at a terminal)", true);
  arguments.option("--agent", options->agent,
                   "The agent that answers, by name or id (default: assistant, or the thread's agent)");
  arguments.option("--thread", options->thread, "The id of the thread to continue (default: a new one)");
  arguments.option("--model", options->model, "The model that answers, such as openai/gpt-5 (default: the agent's)");
  arguments.option("--mode", options->mode, {"plan", "act"}, "Set the mode of the thread: plan or act");
  arguments.option("--delivery", options->delivery, {"queue", "steer", "interrupt"},
                   "While the agent answers on that thread: queue (default) waits, steer joins the answer, interrupt "
                   "stops it");
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return chat(*options); };
}

}  // namespace agw::cli
