#include "config/edit_yaml.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

ConfigNode number(const std::string& text) { return {.form = ConfigNode::Form::number, .text = text}; }
ConfigNode word(const std::string& text) { return {.form = ConfigNode::Form::string, .text = text}; }

struct Edit {
  std::string name;
  std::string before;
  std::string key;
  std::optional<ConfigNode> value;
  std::string after;
};

const std::vector<Edit>& edits() {
  static const std::vector<Edit> all{
      {"EmptyFile", "", "port", number("1"), "port: 1\n"},
      {"OnlyComments", "# a\n\n#port: 2\n", "port", number("1"), "# a\n\n#port: 2\n\nport: 1\n"},
      {"Replaced", "host: a\nport: 2\nauth: token\n", "port", number("1"), "host: a\nport: 1\nauth: token\n"},
      {"CommentStays", "port: 2   # why\n", "port", number("1"), "port: 1   # why\n"},
      {"HashInPlainText", "level: a#b # c\n", "level", word("info"), "level: info # c\n"},
      {"DoubleQuotes", "level: \"a \\\" # b\" # c\n", "level", word("info"), "level: info # c\n"},
      {"SingleQuotes", "level: 'a '' # b'\n", "level", word("info"), "level: info\n"},
      {"QuotedKey", "\"port\": 2\n'level': x\n", "level", word("y"), "\"port\": 2\n'level': y\n"},
      {"BlankBeforeColon", "port : 2\n", "port", number("1"), "port : 1\n"},
      {"NoTrailingNewline", "port: 2", "port", number("1"), "port: 1"},
      {"AddedAfterNoNewline", "port: 2", "level", word("off"), "port: 2\nlevel: off\n"},
      {"WindowsLineEnds", "port: 2 # x\r\nhost: a\r\n", "port", number("1"), "port: 1 # x\r\nhost: a\r\n"},
      {"AddedWithWindowsLineEnds", "a:\r\n  b: 1\r\n", "a.c", number("2"), "a:\r\n  c: 2\r\n  b: 1\r\n"},
      {"WithoutValue", "port:\nhost: a\n", "port", number("1"), "port: 1\nhost: a\n"},
      {"WithoutValueButComment", "port: # x\n", "port", number("1"), "port: 1 # x\n"},
      {"Nested", "a:\n  # why\n  b: 1\n  c:\n    d: 2\n", "a.c.d", number("3"),
       "a:\n  # why\n  b: 1\n  c:\n    d: 3\n"},
      {"MissingSection", "port: 1\n", "a.b", number("2"), "port: 1\na:\n  b: 2\n"},
      {"MissingSections", "port: 1\n", "a.b.c", number("2"), "port: 1\na:\n  b:\n    c: 2\n"},
      {"IndentOfTheSection", "a:\n      b: 1\n", "a.c", number("2"), "a:\n      c: 2\n      b: 1\n"},
      {"EmptySection", "a: # x\nport: 1\n", "a.b", number("2"), "a: # x\n  b: 2\nport: 1\n"},
      {"SectionInTheMiddle", "a:\n  b:\n    x: 1\nport: 1\n", "a.b.y", number("2"),
       "a:\n  b:\n    y: 2\n    x: 1\nport: 1\n"},
      {"IndentedRoot", "  port: 1\n", "host", word("a"), "  port: 1\n  host: a\n"},
      {"DocumentStart", "---\nport: 1\n", "port", number("2"), "---\nport: 2\n"},
      {"SameKeyElsewhere", "a:\n  days: 1\nb:\n  days: 2\n", "b.days", number("3"), "a:\n  days: 1\nb:\n  days: 3\n"},
      {"KeyInABlockText", "a: |\n  port: 1\nport: 2\n", "port", number("3"), "a: |\n  port: 1\nport: 3\n"},
      {"OtherFlowStyleStays", "l: [a,\n  b]\nport: 2\n", "port", number("1"), "l: [a,\n  b]\nport: 1\n"},
      {"QuotedIfNecessary", "", "level", word("a: b"), "level: \"a: b\"\n"},
      {"QuotedIfANumber", "", "level", word("12"), "level: \"12\"\n"},
      {"QuotedIfAWordOfYaml", "", "level", word("true"), "level: \"true\"\n"},
      {"Removed", "host: a\nport: 2\nauth: token\n", "port", std::nullopt, "host: a\nauth: token\n"},
      {"RemovedButItsComment", "a:\n  b: 1 # why\n  c: 2\n", "a.b", std::nullopt, "a:\n  # why\n  c: 2\n"},
      {"RemovedFromASection", "a:\n  b: 1\nport: 1\n", "a.b", std::nullopt, "a:\nport: 1\n"},
      {"RemovedThoughMissing", "a: 1\n", "b.c", std::nullopt, "a: 1\n"},
      {"RemovedAtTheEnd", "a: 1\nb: 2", "b", std::nullopt, "a: 1\n"},
      {"AnchorElsewhere", "a: &x\n  b: 1\nc: *x\nport: 1\n", "port", number("2"), "a: &x\n  b: 1\nc: *x\nport: 2\n"},
  };
  return all;
}

TEST(EditYaml, ChangesOneEntry) {
  for (const auto& edit : edits()) {
    SCOPED_TRACE(edit.name);
    EXPECT_EQ(with_entry(edit.before, edit.key, edit.value), edit.after);
  }
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

TEST(EditYaml, LeavesEveryOtherLineAsItWas) {
  for (const auto& edit : edits()) {
    SCOPED_TRACE(edit.name);
    const auto before = sorted_lines(edit.before);
    const auto after = sorted_lines(with_entry(edit.before, edit.key, edit.value));
    std::vector<std::string> gone;
    std::ranges::set_difference(before, after, std::back_inserter(gone));
    EXPECT_LE(gone.size(), 1u);
  }
}

TEST(EditYaml, ASecondChangeUndoesTheFirst) {
  const std::string before = "# one\nport: 1\nretention: # two\n  # three\n  days: 90 # four\nlevel: info\n";
  const auto changed = with_entry(before, "retention.days", number("30"));
  EXPECT_EQ(with_entry(changed, "retention.days", number("90")), before);
  const auto added = with_entry(before, "retention.turns", number("30"));
  EXPECT_EQ(with_entry(added, "retention.turns", std::nullopt), before);
}

/// The line that the error names; nullopt if the change is made.
std::optional<int> line_of_refusal(const std::string& text, const std::string& key,
                                   const std::optional<ConfigNode>& value) {
  try {
    if (with_entry(text, key, value) == text) return std::nullopt;
    ADD_FAILURE() << with_entry(text, key, value);
    return std::nullopt;
  } catch (const NotEditable& error) {
    return error.line();
  }
}

TEST(EditYaml, RefusesWhatItCannotChangeAlone) {
  struct Case {
    std::string text;
    std::string key;
    int line;
  };
  const std::vector<Case> cases{
      {"a: {b: 1}\n", "a.b", 1},
      {"port: 1\na: {b: 1}\n", "a.c", 2},
      {"{port: 1}\n", "port", 1},
      {"{port: 1}\n", "host", 1},
      {"a: &x\n  b: 1\n", "a.b", 1},
      {"a: &x\n  b: 1\nc: *x\n", "c.b", 3},
      {"port: &x 1\n", "port", 1},
      {"a: &x 1\nport: *x\n", "port", 2},
      {"port: !!int 1\n", "port", 1},
      {"port: >\n  1\n", "port", 1},
      {"? port\n: 1\n", "port", 1},
      {"port:\n  1\n", "port", 0},
      {"level: a\n  b\n", "level", 0},
      {"level: 'a\n  b'\n", "level", 1},
      {"level: [a]\n", "level", 1},
      {"a:\n  &x\n  b: 1\nc: *x\n", "a.b", 0},
      {"a: 1\n", "a.b", 1},
      {"\xEF\xBB\xBFport: 1\n", "port", 1},
  };
  for (const auto& [text, key, line] : cases) {
    SCOPED_TRACE(text);
    EXPECT_EQ(line_of_refusal(text, key, number("2")), line);
    line_of_refusal(text, key, std::nullopt);
  }
  EXPECT_TRUE(line_of_refusal("port: 1\n...\n", "host", word("a")));
}

TEST(EditYaml, ReportsInvalidDocuments) {
  for (const auto* text : {"port: 1\nport: 2\n", "port: [\n", "- a\n", "a: 1\n---\nb: 2\n"}) {
    EXPECT_THROW(with_entry(text, "port", number("3")), ConfigError) << text;
  }
}

}  // namespace
}  // namespace agw
