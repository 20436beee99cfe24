#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The words of a simple command: a program and its arguments, as bash passes them on. No value for a line that bash
/// would do anything else with (several commands, redirections, assignments, expansions of any kind, comments, reserved
/// words) and for one with other characters than printable ASCII.
std::optional<std::vector<std::string>> words_of_command(std::string_view line);

/// The same words as one line, each quoted if it needs that: two lines with the same words give the same text.
std::string quoted_words(std::span<const std::string> words);

/// `git status *`: what a call of a program that only reads is called by, if nothing in it makes it do more. No value
/// for any other command.
std::optional<std::string> reading_command(std::span<const std::string> words);

}  // namespace agw
