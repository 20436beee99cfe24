#include "features/librarian/reply.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string.hpp>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/librarian/text.hpp"

namespace agw {

namespace {

constexpr std::string_view introduction =
    "I am not a language model. I look things up in what was said here before, and quote it.\n\n";

constexpr std::string_view how_to_connect =
    "\n\n---\n\n"
    "To talk to a real model, connect a model service on the page under System, Models, or with `agw model add`: it is "
    "used at once. `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `OLLAMA_HOST` in the gateway's "
    "environment, and `providers:` in its `config.yaml`, are read when the gateway starts.";

constexpr std::size_t max_summarised = 20;
constexpr std::size_t max_sentence_length = 160;
constexpr std::size_t max_shown_word_length = 40;
constexpr std::size_t max_shown_error_length = 600;
constexpr std::size_t max_shown_result_length = 8'000;

std::string listed(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const auto& word : words) quoted.push_back(fmt::format("“{}”", on_one_line(word, max_shown_word_length)));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

/// Returns a fence that is longer than any run of backticks in the text.
std::string fence_for(std::string_view text) {
  std::size_t longest = 2;
  std::size_t row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  return std::string(longest + 1, '`');
}

/// Returns a list item for each line of JSON; empty if the text is anything else.
std::string extension_rows(std::string_view text) {
  std::string rows;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto value = parse_json(line);
    if (!value || !value->is_object()) return {};
    const auto& extension = value->get_object();
    rows += fmt::format("- `{}`{}: {}\n", string_member(extension, "name").value_or(""),
                        is_true(extension, "enabled") ? "" : " (disabled)",
                        on_one_line(string_member(extension, "description").value_or(""), max_sentence_length));
  }
  return boost::trim_right_copy(rows);
}

/// A message to try.
struct Example {
  std::string_view message;
  std::string_view tool;  ///< the tool that it needs; empty: none
};

/// In order of preference. The first ones that work are shown.
constexpr std::array examples{Example{"List commands", "ListExtensions"},
                              Example{"List jobs", "ListExtensions"},
                              Example{"Remember that the demo is on Friday at ten", ""},
                              Example{"Find files *.md", "Glob"},
                              Example{"Repeat: the librarian is listening", ""},
                              Example{"Summarise this thread", ""}};
constexpr std::size_t shown_examples = 3;

std::string quotation(const Passage& passage) {
  auto text = boost::trim_copy(passage.text);
  boost::erase_all(text, "\r");
  boost::replace_all(text, "\n", "\n> ");
  return fmt::format("> {}\n>\n> — {}", text, passage.source);
}

}  // namespace

std::string reply(std::string_view body, bool is_first) {
  if (!is_first) return fmt::format("{}{}", librarian_label, body);
  return fmt::format("{}{}{}{}", librarian_label, introduction, body, how_to_connect);
}

std::vector<std::string> suggestions(const std::vector<ToolDescription>& offered) {
  std::vector<std::string> messages;
  for (const auto& example : examples) {
    const bool works = example.tool.empty() || contains(offered, example.tool, &ToolDescription::name);
    if (works && messages.size() < shown_examples) messages.emplace_back(example.message);
  }
  return messages;
}

std::string explanation(const std::vector<std::string>& suggestions) {
  std::string items;
  for (const auto& message : suggestions) items += fmt::format("\n- `{}`", message);
  return "Here is what I can do without a model:\n\n"
         "- Ask for anything that was said before, in this thread or in another one of this agent: *What did I say "
         "about "
         "the deploy?* I quote the turns that have its words, with who said it, when and where. \"Quoted phrases\" are "
         "searched as they stand.\n"
         "- *Remember that …* keeps something, to be found again by its words.\n"
         "- *Summarise this thread* lists what you wrote in it.\n"
         "- *Repeat …* says your text again.\n"
         "- *Read notes.md*, *grep TODO in src*, *find files \\*.md*, *list jobs*, *run job …* use the tool for it, as "
         "far "
         "as this thread's mode and the agent's stage allow.\n\n"
         "Try one of these:\n" +
         items;
}

std::string summary(const std::vector<Message>& messages) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i + 1 < messages.size(); ++i) {
    const auto& message = messages[i];
    if (message.role != Message::Role::user || search_words(message.text).empty()) continue;
    sentences.push_back(first_sentence(message.text, max_sentence_length));
  }
  if (sentences.empty()) return "There is nothing to sum up yet: you have written nothing in this thread before.";

  const auto left_out = sentences.size() - std::min(sentences.size(), max_summarised);
  auto text = left_out == 0
                  ? std::string("I cannot put it in other words. This is how your messages in this thread begin:\n")
                  : fmt::format(
                        "I cannot put it in other words. This is how the last {} of your {} messages in this "
                        "thread begin:\n",
                        max_summarised, sentences.size());
  for (auto i = left_out; i < sentences.size(); ++i) text += fmt::format("\n{}. {}", i + 1, sentences[i]);
  return text;
}

std::string acknowledgement(std::string_view note) {
  const auto words = search_words(note);
  const auto how = words.empty() ? std::string() : fmt::format(": ask for {}", listed(words));
  return fmt::format(
      "Your message is kept in this thread as you wrote it. I find it again by its words from any thread of this "
      "agent{}.",
      how);
}

std::string quotations(const std::vector<Passage>& passages, const std::vector<std::string>& words, Match match) {
  std::vector<std::string> quoted;
  quoted.reserve(passages.size());
  for (const auto& passage : passages) quoted.push_back(quotation(passage));
  const auto opening = match == Match::all
                           ? fmt::format("This is what I found about {}:", listed(words))
                           : fmt::format("Nothing that I found has all of {}. This has some of it:", listed(words));
  return fmt::format("{}\n\n{}", opening, fmt::join(quoted, "\n\n"));
}

std::string tool_answer(const ToolUse& use, const Message& result) {
  if (result.is_error)
    return fmt::format("{} did not work: {}", use.name, on_one_line(result.text, max_shown_error_length));
  if (result.text.empty()) return fmt::format("{} gave nothing.", use.name);
  const auto rows = use.name == "ListExtensions" ? extension_rows(result.text) : std::string();
  if (!rows.empty()) return fmt::format("This is what {} gave:\n\n{}", use.name, rows);
  const auto shown = utf8_prefix(result.text, max_shown_result_length);
  const auto* const cut = shown.size() < result.text.size() ? "\n\nThis is only its beginning." : "";
  const auto fence = fence_for(shown);
  return fmt::format("This is what {} gave:\n\n{}\n{}\n{}{}", use.name, fence,
                     boost::trim_right_copy(std::string(shown)), fence, cut);
}

std::string not_found(const std::vector<std::string>& words, const std::vector<std::string>& searched) {
  return fmt::format("I found nothing about {}. I searched {}. Other words for the same thing may find it.",
                     listed(words), fmt::join(searched, " and "));
}

}  // namespace agw
