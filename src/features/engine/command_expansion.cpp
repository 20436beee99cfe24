#include "features/engine/command_expansion.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/extensions/service.hpp"

namespace agw {

namespace {

constexpr std::string_view all_arguments = "$ARGUMENTS";
/// Bytes; more than any model can read. Without a limit, repeated placeholders could multiply the arguments.
constexpr std::size_t max_expansion_length = 10 * 1024 * 1024;

std::string_view stripped(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = stripped(text); !text.empty(); text = stripped(text)) {
    const auto end = std::min(text.find_first_of(white_space), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

/// Appends the value of the placeholder at the start of `prompt`. Returns the placeholder's length; 0 if there is none.
std::size_t expand_placeholder(std::string_view prompt, std::string_view arguments,
                               const std::vector<std::string_view>& words, std::string& text) {
  if (prompt.starts_with(all_arguments)) {
    text += arguments;
    return all_arguments.size();
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(prompt.data() + 1, prompt.data() + prompt.size(), number);
  if (error != std::errc{} || number == 0) return 0;
  if (number <= words.size()) text += words[number - 1];
  return static_cast<std::size_t>(end - prompt.data());
}

std::string expanded(std::string_view prompt, std::string_view arguments) {
  const auto words = words_of(arguments);
  std::string text;
  bool has_place = arguments.empty();
  while (!prompt.empty()) {
    const auto dollar = std::min(prompt.find('$'), prompt.size());
    text += prompt.substr(0, dollar);
    prompt.remove_prefix(dollar);
    if (prompt.empty()) break;
    auto length = expand_placeholder(prompt, arguments, words, text);
    if (length != 0) {
      has_place = true;
    } else {
      text += '$';
      length = 1;
    }
    prompt.remove_prefix(length);
    if (text.size() > max_expansion_length) throw body_too_large();
  }
  return has_place ? text : expanded(text + "\n\n$ARGUMENTS", arguments);
}

std::optional<std::string> filled_member(const json::object& definition, std::string_view name) {
  const auto text = string_member(definition, name);
  return text && !text->empty() ? std::optional<std::string>(*text) : std::nullopt;
}

}  // namespace

std::optional<ExpandedCommand> expand_command(std::string_view message, const Extensions& extensions) {
  if (!message.starts_with('/')) return std::nullopt;
  const auto name = message.substr(1, message.find_first_of(white_space) - 1);
  const auto command = extensions.find(ExtensionType::command, name);
  if (!command || !command->enabled || command->name != name) return std::nullopt;
  const auto& definition = command->definition.members();
  return ExpandedCommand{
      .text = expanded(string_member(definition, "prompt").value_or(""), stripped(message.substr(1 + name.size()))),
      .agent_id = filled_member(definition, "agent_id"),
      .mode = filled_member(definition, "mode"),
      .model = filled_member(definition, "model")};
}

}  // namespace agw
