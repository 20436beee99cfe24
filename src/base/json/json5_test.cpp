#include "base/json/json5.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string read_json5(std::string_view text) {
  const auto value = parse_json5(text);
  return value ? to_json(*value) : "none";
}

TEST(Json5, IsReadAsJson) {
  EXPECT_EQ(read_json5(R"(// settings
{
  unquoted: 'and "you" can\'t', /* a
  comment */ $name_1: "line \
continued",
  hex: 0xFF, plus: +1, minus: -0x10, none: NaN,
  list: [1, 'two', null,], "quoted": "// no comment", 'x': '\x41\v',
})"),
            R"({"unquoted":"and \"you\" can't","$name_1":"line continued","hex":255,"plus":1,)"
            R"("minus":-16,"none":null,"list":[1,"two",null],"quoted":"// no comment","x":"A\u000b"})");
  EXPECT_EQ(read_json5("[.5, 5., 1.e2]"), read_json5("[0.5, 5.0, 100.0]"));
}

TEST(Json5, RefusesInvalidText) {
  for (const auto* text :
       {"{a: 1", "{a b}", "[,]", "[1,,2]", "[1 2]", "'open", "/* open", "{a: undefined}", "", "{'a\n': 1}"})
    EXPECT_EQ(read_json5(text), "none") << text;
}

}  // namespace
}  // namespace agw
