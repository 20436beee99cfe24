#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "base/json/yaml.hpp"

namespace agw {
namespace {

std::string written(std::string_view json) { return json_to_yaml(*parse_json(json)); }

TEST(YamlWriter, WritesWhatPeopleWouldWrite) {
  EXPECT_EQ(written(R"({"name":"mail-digest","enabled":true,"tools":["Read","Grep"],"sandbox":{"memory_mb":512},
      "none":[],"empty":{},"nothing":null,"temperature":0.5})"),
            "name: mail-digest\nenabled: true\ntools:\n  - Read\n  - Grep\nsandbox:\n  memory_mb: 512\nnone: []\n"
            "empty: {}\nnothing: null\ntemperature: 0.5\n");
}

TEST(YamlWriter, WritesLongTextsAsTheyRead) {
  EXPECT_EQ(written(R"({"systemPrompt":"You help.\n\n- Be brief: #1\n  and kind\n","b":"no\nend"})"),
            "systemPrompt: |\n  You help.\n\n  - Be brief: #1\n    and kind\nb: |-\n  no\n  end\n");
}

TEST(YamlWriter, IndentsATextThatIsTheWholeDocument) {
  for (const std::string_view text : {R"("#)]e\n")", R"("--- a\nb")", R"("...\n")"}) {
    EXPECT_EQ(yaml_to_json(written(text)), *parse_json(text)) << written(text);
  }
}

TEST(YamlWriter, QuotesWhatOtherReadersWouldMisread) {
  EXPECT_EQ(written(R"({"a":"no","b":"5","c":"","d":"null","e":"a: b","f":"*x","g":"1e3","h":"~","i":"2026-01-02"})"),
            "a: \"no\"\nb: \"5\"\nc: \"\"\nd: \"null\"\ne: \"a: b\"\nf: \"*x\"\ng: \"1e3\"\nh: \"~\"\n"
            "i: \"2026-01-02\"\n");
}

/// Generates adversarial values.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  json::value value(int depth) {
    switch (below(depth > 0 ? 9 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_()) * (below(2) == 0 ? 1 : -1);
      case 3:
        return std::bit_cast<double>(random_() & 0xbfefffffffffffff);
      case 7:
        return array(depth);
      case 8:
        return object(depth);
      default:
        return json::string(text());
    }
  }

  json::object object(int depth) {
    json::object members;
    for (auto count = below(5); count > 0; --count) members[text()] = value(depth - 1);
    return members;
  }

private:
  json::array array(int depth) {
    json::array elements;
    for (auto count = below(5); count > 0; --count) elements.push_back(value(depth - 1));
    return elements;
  }

  std::string text() {
    static const std::vector<std::string> pieces = {"a",
                                                    "Z",
                                                    "0",
                                                    " ",
                                                    "  ",
                                                    "\n",
                                                    "\n\n",
                                                    "\t",
                                                    "\r",
                                                    "-",
                                                    "- ",
                                                    ": ",
                                                    ":",
                                                    " #",
                                                    "#",
                                                    "'",
                                                    "\"",
                                                    "\\",
                                                    "|",
                                                    ">",
                                                    "&a",
                                                    "*a",
                                                    "!",
                                                    "%",
                                                    "@",
                                                    "`",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    "?",
                                                    "? ",
                                                    "---",
                                                    "...",
                                                    "no",
                                                    "null",
                                                    "~",
                                                    "1.5",
                                                    "0x1f",
                                                    "<<",
                                                    "=",
                                                    "\x7f",
                                                    "\xc2\x80",
                                                    "\xc2\x85",
                                                    "\xe2\x80\xa8",
                                                    "\xef\xbb\xbf",
                                                    "\xef\xbf\xbf",
                                                    "\xc3\xa9",
                                                    "\x01",
                                                    "\x1b",
                                                    "\xf0\x9f\x98\x80",
                                                    "word",
                                                    "true",
                                                    std::string(1, '\0'),
                                                    std::string(200, 'x')};
    std::string made;
    for (auto count = below(6); count > 0; --count) made += pieces[below(pieces.size())];
    return made;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::mt19937_64 random_;
};

TEST(YamlWriter, RoundTrips) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const json::value made = Generator(seed).object(4);
    const auto yaml = json_to_yaml(made);
    try {
      ASSERT_EQ(to_json(yaml_to_json(yaml)), to_json(made)) << yaml;
    } catch (const YamlError& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << to_json(made) << "\n" << yaml;
    }
  }
}

}  // namespace
}  // namespace agw
