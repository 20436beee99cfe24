#include "base/json/yaml.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string as_json(std::string_view yaml) { return to_json(yaml_to_json(yaml)); }

std::string yaml_error(std::string_view yaml) {
  try {
    return "no error but " + as_json(yaml);
  } catch (const YamlError& failure) {
    return failure.what();
  }
}

TEST(Yaml, ReadsPlainScalarsWithTheTypesOfYaml12) {
  EXPECT_EQ(as_json("[true, False, null, ~, 1, -2, +3, 0x1F, 0o17, 1.5, .5, 2., 1e3, 18446744073709551615]"),
            "[true,false,null,null,1,-2,3,31,15,1.5,0.5,2,1000,18446744073709551615]");
}

TEST(Yaml, KeepsTextThatOnlyLooksLikeAValue) {
  EXPECT_EQ(
      as_json("[no, yes, on, off, y, .inf, .nan, inf, 0x, 1.2.3, 2026-01-02, -, --1, e5, 0x-1, 12:30]"),
      R"(["no","yes","on","off","y",".inf",".nan","inf","0x","1.2.3","2026-01-02","-","--1","e5","0x-1","12:30"])");
}

TEST(Yaml, KeepsQuotedScalarsTexts) {
  EXPECT_EQ(as_json("a: \"no\"\nb: '5'\nc: \"null\"\nd: !!str 7\ne: \"\"\n"),
            R"({"a":"no","b":"5","c":"null","d":"7","e":""})");
}

TEST(Yaml, ReadsBlocksAndNestedValuesInOrder) {
  EXPECT_EQ(as_json("b: |\n  one\n  two\na:\n  - x: 1\n    y: [2]\n  - {}\n1: true\n"),
            R"({"b":"one\ntwo\n","a":[{"x":1,"y":[2]},{}],"1":true})");
  EXPECT_EQ(as_json(""), "null");
}

TEST(Yaml, NamesTheLineOfAnError) {
  EXPECT_EQ(yaml_error("a: 1\na: 2\n"), "line 2: the key a is given twice");
  EXPECT_EQ(yaml_error("a: &x [1]\nb: *x\n"), "line 2: aliases (*name) are not taken");
  EXPECT_EQ(yaml_error("a: !!binary aGk=\n"), "line 1: the tag tag:yaml.org,2002:binary is not taken");
  EXPECT_EQ(yaml_error("? [a]\n: b\n"), "line 1: a key must be a word");
  EXPECT_EQ(yaml_error("a: 1\n---\nb: 2\n"), "line 1: must be one document");
  EXPECT_EQ(yaml_error("a: \"\xff\"\n"), "line 1: the text is not UTF-8");
  EXPECT_EQ(yaml_error("a: \"\\é\"\n"), "line 1: unknown escape character: \ufffd");
  EXPECT_TRUE(yaml_error("a: 1\n  b: 2\n").starts_with("line 2: "));
  EXPECT_TRUE(yaml_error("a:\n\t- b\n").starts_with("line 2: "));
}

TEST(Yaml, RefusesBombs) {
  EXPECT_EQ(yaml_error(std::string(65, '[') + std::string(65, ']')), "line 1: nested deeper than 64");
  EXPECT_TRUE(yaml_error(std::string(20'000, '[')).starts_with("line 1: "));
  EXPECT_TRUE(yaml_error(std::string(20'000, '{')).starts_with("line 1: "));
  EXPECT_EQ(yaml_error(std::string(max_yaml_size + 1, 'a')), "line 1: YAML over 1 MiB is not taken");
}

}  // namespace
}  // namespace agw
