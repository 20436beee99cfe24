#include "cli/output/line_input.hpp"

#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>

#include "cli/output/terminal.hpp"

namespace agw::cli {

namespace {

constexpr int remembered_lines = 500;

/// During its lifetime, Ctrl-C interrupts the reading of a line instead of ending the program.
class InterruptScope {
public:
  InterruptScope() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGINT, &action, &before_);
  }
  ~InterruptScope() { ::sigaction(SIGINT, &before_, nullptr); }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

private:
  struct sigaction before_{};
};

}  // namespace

struct LineInput::Editor {
  Editor();
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  bool has_text() const;
  void drop_line();
  void remember(const char* line);

  TerminalGuard guard{};
  std::FILE* screen = ::isatty(STDOUT_FILENO) == 1 ? stdout : stderr;
  EditLine* edit_line;
  History* lines;
};

LineInput::Editor::Editor() {
  // Input is UTF-8, whatever the environment specifies.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  edit_line = el_init("agw", stdin, screen, stderr);
  lines = history_init();
  HistEvent event;
  history(lines, &event, H_SETSIZE, remembered_lines);
  history(lines, &event, H_SETUNIQUE, 1);
  el_set(edit_line, EL_HIST, history, lines);
  el_set(edit_line, EL_EDITOR, "emacs");
  // Between two lines: input typed during an answer waits for the prompt without echo, and a Ctrl-D in it is kept.
  el_set(edit_line, EL_SETTY, "-x", "-icanon", "-echo", nullptr);
  el_set(edit_line, EL_PROMPT, +[](EditLine*) -> const char* { return "> "; });
}

LineInput::Editor::~Editor() {
  el_end(edit_line);
  history_end(lines);
}

bool LineInput::Editor::has_text() const {
  const auto* line = el_line(edit_line);
  return line->lastchar != line->buffer;
}

void LineInput::Editor::drop_line() {
  std::fputc('\n', screen);
  std::fflush(screen);
  el_reset(edit_line);
}

void LineInput::Editor::remember(const char* line) {
  HistEvent event;
  history(lines, &event, H_ENTER, line);
}

LineInput::LineInput() : editor_(std::make_unique<Editor>()) {}

LineInput::~LineInput() = default;

std::optional<std::string> LineInput::read() {
  editor_->guard.renew();  // the answer to the previous line has handled Ctrl-C
  const InterruptScope interruptible;
  for (;;) {
    int size = 0;
    errno = 0;
    const char* line = el_gets(editor_->edit_line, &size);
    if (line && size > 0) {
      editor_->remember(line);
      std::string text(line, static_cast<std::size_t>(size));
      if (text.ends_with('\n')) text.pop_back();
      return text;
    }
    const bool start_over = errno == EINTR && editor_->has_text();
    editor_->drop_line();
    if (!start_over) return std::nullopt;
  }
}

}  // namespace agw::cli
