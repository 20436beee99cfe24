#include "features/librarian/intent.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/librarian/search_words.hpp"

namespace agw {

namespace {

/// A longer message requires more than an explanation.
constexpr std::size_t max_explained = 200;

std::string_view skip(std::string_view text, std::string_view characters) {
  return text.substr(std::min(text.find_first_not_of(characters), text.size()));
}

/// Returns the text after one of the openings (whole words); empty if there is none.
std::string_view after(std::string_view message, std::initializer_list<std::string_view> openings) {
  for (const auto opening : openings) {
    if (lower_case(message.substr(0, opening.size())) != opening) continue;
    const auto rest = message.substr(opening.size());
    if (!rest.empty() &&
        (rest.front() == ':' || rest.front() == ',' || white_space.find(rest.front()) != white_space.npos)) {
      return skip(rest, ":, \t\r\n");
    }
  }
  return {};
}

bool ends_with_question_mark(std::string_view message) {
  const auto last = message.find_last_not_of(white_space);
  return last != message.npos && message[last] == '?';
}

/// Whether the message is only a command such as `/plan`, without any text to search for.
bool is_bare_command(std::string_view message) {
  message = message.substr(0, message.find_last_not_of(white_space) + 1);
  return message.starts_with('/') && message.find_first_of(" \t\r\n/.", 1) == message.npos;
}

/// Whether a summary of this thread is requested, as opposed to information about a summary.
bool asks_for_summary(const std::vector<std::string>& words) {
  static const std::set<std::string, std::less<>> summary{"summarise", "summarize", "summary",
                                                          "tldr",      "tl;dr",     "recap"};
  static const std::set<std::string, std::less<>> thread{"thread", "conversation", "chat",     "discussion",
                                                         "far",    "messages",     "short",    "brief",
                                                         "quick",  "talked",       "discussed"};
  const auto is_summary = [](const std::string& word) { return summary.contains(word); };
  const auto is_thread = [](const std::string& word) { return thread.contains(word); };
  return std::ranges::any_of(words, is_summary) &&
         std::ranges::all_of(words, [&](const auto& word) { return is_summary(word) || is_thread(word); });
}

/// Whether the message asks about the librarian's abilities, as opposed to conversations about them: *What can you do
/// without a model?*
bool asks_for_explanation(std::string_view message, const std::vector<std::string>& words) {
  static const std::set<std::string, std::less<>> here{"connected", "gateway", "language", "librarian", "llm",
                                                       "model",     "models",  "offline",  "work",      "without"};
  if (!std::ranges::all_of(words, [](const auto& word) { return here.contains(word); })) return false;
  const auto text = lower_case(message.substr(0, max_explained));
  static const std::initializer_list<std::string_view> questions{
      "can you do",      "do you do",   "are you able to do", "you can do", "can i do", "can i ask",
      "can you help me", "who are you", "what are you",       "you work",   "this work"};
  return std::ranges::any_of(questions, [&](auto question) { return text.find(question) != text.npos; });
}

}  // namespace

Intent read_intent(std::string_view message, bool is_command) {
  using Kind = Intent::Kind;
  message = skip(message, white_space);
  const bool bare_command = is_command && is_bare_command(message);
  if (message.starts_with('/')) message.remove_prefix(1);
  if (const auto polite = after(message, {"please"}); !polite.empty()) message = polite;

  if (const auto text = after(message, {"repeat after me", "repeat this", "repeat", "echo"}); !text.empty()) {
    return {Kind::echo, text};
  }
  const auto note = after(message, {"remember that", "remember this", "remember", "note that", "note",
                                    "keep in mind that", "keep in mind", "don't forget that", "don't forget"});
  if (!note.empty() && !ends_with_question_mark(message)) return {Kind::note, note};

  const auto words = search_words(message);
  if (words.empty() || asks_for_explanation(message, words)) return {Kind::explanation, {}};
  if (asks_for_summary(words)) return {Kind::summary, {}};
  return {bare_command ? Kind::explanation : Kind::search, {}};
}

}  // namespace agw
