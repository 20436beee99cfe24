#include <array>
#include <memory>
#include <vector>

#include <re2/re2.h>
#include <boost/algorithm/string.hpp>

#include "base/text/utf8.hpp"
#include "features/librarian/intent.hpp"
#include "models/model.hpp"

namespace agw {

namespace {

/// A phrase that requests a tool. Its groups become the inputs, in order; empty groups are omitted.
struct Phrase {
  const char* pattern;  ///< matches the whole message, ignoring case
  const char* tool;
  std::array<const char*, 2> inputs{};
};

/// A path is recognised by a dot, a slash, quotes, or the word "file".
constexpr std::array phrases{
    Phrase{R"((?:read|open|show|show me|cat|print) (?:the )?file [`"']?(\S+?)[`"']?)", "Read", {"path"}},
    Phrase{R"((?:read|open|show|show me|cat|print) (?:the file )?[`"]([^`"]+)[`"])", "Read", {"path"}},
    Phrase{R"((?:fetch|get|read|open|show me) <?(https?://\S+?)>?)", "WebFetch", {"url"}},
    Phrase{R"((?:read|open|show|show me|cat|print) (?:the )?(\S*[./]\S*?)(?: file)?)", "Read", {"path"}},
    Phrase{R"((?:write|save) [`"]([^`"]+)[`"] (?:in)?to (?:the file )?[`"']?(\S*[./]\S*?)[`"']?)",
           "Write",
           {"content", "path"}},
    Phrase{R"((?:write|save) (\S+) (?:in)?to (?:the file )?[`"']?(\S*[./]\S*?)[`"']?)", "Write", {"content", "path"}},
    Phrase{R"re((?:write|create) (?:the |a |to )?(?:file )?[`"']?(\S*[./][^\s:`"']*)[`"']?)re"
           R"re((?:: | with (?:the )?(?:content|text):? )[`"]?(.+?)[`"]?)re",
           "Write",
           {"path", "content"}},
    Phrase{R"((?:list|show|show me) (?:the |all )?files(?: in (?:the )?(?:folder |directory )?[`"']?(\S+?)[`"']?)?)",
           "Read",
           {"path"}},
    Phrase{R"(ls(?: (\S+))?)", "Read", {"path"}},
    Phrase{R"((?:glob|find (?:all )?files(?: named| like)?) [`"']?(\S*[*?./]\S*?)[`"']?(?: in [`"']?(\S+?)[`"']?)?)",
           "Glob",
           {"pattern", "path"}},
    Phrase{R"(grep (?:for )?[`"']([^`"']+)[`"'](?: in [`"']?(\S+?)[`"']?)?)", "Grep", {"pattern", "path"}},
    Phrase{R"(grep (?:for )?(\S+)(?: in [`"']?(\S+?)[`"']?)?)", "Grep", {"pattern", "path"}},
    Phrase{R"(search (?:on )?the web for (.+))", "WebSearch", {"query"}},
    Phrase{R"((?:list|show|show me) (?:the |all |my )?(agent|job|command|app|theme|renderer|integration|action|widget)"
           R"(|artifact|capabilit|control)(?:s|ies))",
           "ListExtensions",
           {"type"}},
    Phrase{R"(/(job)s)", "ListExtensions", {"type"}},
    Phrase{R"((?:list|show|show me) (?:the |all |my )?extensions)", "ListExtensions", {}},
    Phrase{R"((?:run|start) (?:the )?job [`"']?([\w-]+)[`"']?)", "RunJob", {"job"}},
    Phrase{R"((?:read|load|show|show me|use) (?:the )?skill [`"']?([\w-]+)[`"']?)", "ReadSkill", {"name"}},
    Phrase{R"((?:calculate|compute):? ([(\d.-][\d\s.()+*/%^-]*))", "calculate", {"expression"}},
    Phrase{R"(what time is it(?: now)?|what(?: is|'s) the (?:current )?time|current[- ]time)", "current-time", {}},
    Phrase{R"((?:run|execute|bash):? `([^`]+)`)", "Bash", {"command"}},
    Phrase{R"((?:bash:|run the command:?) ([^`]+))", "Bash", {"command"}},
};

const std::vector<std::unique_ptr<re2::RE2>>& expressions() {
  static const auto made = [] {
    std::vector<std::unique_ptr<re2::RE2>> list;
    re2::RE2::Options options;
    options.set_case_sensitive(false);
    list.reserve(phrases.size());
    for (const auto& phrase : phrases) list.push_back(std::make_unique<re2::RE2>(phrase.pattern, options));
    return list;
  }();
  return made;
}

json::object input_of(const Phrase& phrase, const std::array<std::string, 2>& groups) {
  json::object input;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (phrase.inputs.at(i) && !groups.at(i).empty()) input[phrase.inputs.at(i)] = groups.at(i);
  }
  if (auto* type = input.if_contains("type")) {
    const auto name = lower_case(type->as_string());
    *type = name == "capabilit" ? "capability" : name;
  }
  // Without a name, the folder is the agent's working directory.
  if (phrase.tool == std::string_view("Read") && !input.contains("path")) input["path"] = ".";
  return input;
}

/// Removes polite phrases and the punctuation at the end.
std::string bare(std::string_view message) {
  auto text = boost::trim_copy(std::string(message));
  for (const std::string_view opening : {"please ", "can you ", "could you ", "please "}) {
    if (lower_case(std::string_view(text).substr(0, opening.size())) == opening) text.erase(0, opening.size());
  }
  boost::trim_right_if(text, boost::is_any_of("?! "));
  constexpr std::string_view closing = " please";
  if (boost::iends_with(text, closing)) {
    text.erase(text.size() - closing.size());
    boost::trim_right_if(text, boost::is_any_of(", "));
  }
  const bool ends_sentence =
      text.ends_with('.') && !text.ends_with(" .") && !text.ends_with("/.") && !text.ends_with("..");
  if (ends_sentence) text.pop_back();
  return text;
}

}  // namespace

std::optional<ToolUse> read_tool_request(std::string_view message) {
  const auto text = bare(message);
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    const auto& expression = *expressions()[i];
    std::array<std::string, 2> groups;
    const std::array<re2::RE2::Arg, 2> arguments{re2::RE2::Arg(&groups[0]), re2::RE2::Arg(&groups[1])};
    const std::array<const re2::RE2::Arg*, 2> pointers{&arguments[0], &arguments[1]};
    if (!re2::RE2::FullMatchN(text, expression, pointers.data(), expression.NumberOfCapturingGroups())) continue;
    ToolUse use;
    use.name = phrases.at(i).tool;
    use.input = input_of(phrases.at(i), groups);
    return use;
  }
  return std::nullopt;
}

}  // namespace agw
