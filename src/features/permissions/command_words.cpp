#include "features/permissions/command_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/containers.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

/// Characters with a special meaning for the shell, unless quoted.
constexpr std::string_view special = ";&|<>()$`*?[]{}\n\r";
/// The characters that a backslash quotes within double quotes.
constexpr std::string_view quoted_by_backslash = "\\\"$`";

constexpr std::array<std::string_view, 22> reserved_words{
    "!",    "[[", "]]",  "{",        "}",  "case", "coproc", "do",   "done", "elif",  "else",
    "esac", "fi", "for", "function", "if", "in",   "select", "then", "time", "until", "while"};

bool is_printable_ascii(char c) { return c >= ' ' && c <= '~'; }
bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

/// Splits one line into words. Fails at the first character that cannot be part of a simple command.
class WordReader {
public:
  explicit WordReader(std::string_view line) : rest_(line) {}

  std::optional<std::vector<std::string>> read() {
    if (!std::ranges::all_of(rest_, [](char c) { return is_printable_ascii(c) || c == '\t'; })) return std::nullopt;
    while (!rest_.empty() && !failed_) step();
    end_word();
    if (failed_ || words_.empty()) return std::nullopt;
    return std::move(words_);
  }

private:
  void step() {
    const char c = take();
    if (is_space_or_tab(c)) return end_word();
    // Bash expands ~ at the beginning of a word, and after = and : in a word that looks like an assignment.
    const bool begins = !word_ || word_->ends_with('=') || word_->ends_with(':');
    if (special.find(c) != special.npos || (c == '#' && !word_) || (c == '~' && begins)) {
      failed_ = true;
      return;
    }
    auto& word = word_ ? *word_ : word_.emplace();
    if (c == '\'') return single_quoted(word);
    if (c == '"') return double_quoted(word);
    if (c != '\\') {
      word += c;
    } else if (rest_.empty()) {
      failed_ = true;
    } else {
      word += take();
    }
  }

  void single_quoted(std::string& word) {
    const auto end = rest_.find('\'');
    failed_ = end == rest_.npos;
    if (failed_) return;
    word += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
  }

  void double_quoted(std::string& word) {
    while (!rest_.empty()) {
      const char c = take();
      if (c == '"') return;
      if (c == '$' || c == '`') break;
      const bool quotes =
          c == '\\' && !rest_.empty() && quoted_by_backslash.find(rest_.front()) != std::string_view::npos;
      word += quotes ? take() : c;
    }
    failed_ = true;
  }

  void end_word() {
    if (word_) words_.push_back(*std::exchange(word_, std::nullopt));
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
  bool failed_ = false;
};

/// Whether the first word of a line is a program, and not an assignment or a reserved word.
bool is_program(std::string_view word) {
  return !word.empty() && word.find('=') == word.npos && !contains(reserved_words, word);
}

bool needs_no_quotes(char c) {
  constexpr std::string_view plain = "_@%+=:,./-^";
  return is_alphanumeric(c) || plain.find(c) != plain.npos;
}

}  // namespace

std::optional<std::vector<std::string>> words_of_command(std::string_view line) {
  auto words = WordReader(line).read();
  if (!words || !is_program(words->front())) return std::nullopt;
  return words;
}

std::string quoted_words(std::span<const std::string> words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::ranges::all_of(word, needs_no_quotes)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace agw
