#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The words of a simple command: a program and its arguments, as bash would pass them to it. No value for any other
/// line (several commands, redirections, assignments, expansions of any kind, comments, reserved words), and for a line
/// that contains anything but printable ASCII.
std::optional<std::vector<std::string>> words_of_command(std::string_view line);

/// The words as one line, each quoted if necessary. Lines with the same words yield the same text.
std::string quoted_words(std::span<const std::string> words);

/// The pattern of a command that only reads, such as `git status *`. No value for any other command, and for a program
/// that only reads by default if one of its arguments could make it do more.
std::optional<std::string> reading_command(std::span<const std::string> words);

}  // namespace agw
