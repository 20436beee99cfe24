#include "base/json/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "base/json/bounded_json.hpp"

namespace agw {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (const std::string text : {"",
                                 "{",
                                 "{]",
                                 "nul",
                                 "1e400",
                                 "-1e999",
                                 "[1e400]",
                                 R"({"a":{"b":1e400}})",
                                 "\"\xff\"",
                                 "\"\xc0\x80\"",
                                 "\"\xed\xa0\x80\"",
                                 R"("\ud800")",
                                 R"("\udc00")",
                                 R"("\ud800x")",
                                 "\xef\xbb\xbf{}",
                                 "{} {}",
                                 "[1,]",
                                 "{'a':1}",
                                 "NaN",
                                 "01",
                                 "\"\n\""}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, AcceptsDepth64AndNoMore) {
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(nested(100000)));
}

TEST(Json, StoredValuesMayBeDeeper) {
  EXPECT_TRUE(nests_deeper(parse_stored_json(nested(128)), 127));
  EXPECT_FALSE(nests_deeper(parse_stored_json(nested(128)), 128));
  EXPECT_THROW(parse_stored_json(nested(129)), std::runtime_error);
  EXPECT_THROW(parse_stored_json("{"), std::runtime_error);
}

TEST(Json, TheLastOfDuplicateMembersWins) { EXPECT_EQ(to_json(*parse_json(R"({"a":1,"a":2})")), R"({"a":2})"); }

TEST(Json, WritesWhatItRead) {
  for (const std::string text : {R"({"a":[1,-2,3.5,true,false,null,"x\u0001\"\\"]})", "18446744073709551615", "1e-07",
                                 "\"\xf0\x9f\x98\x80\"", "0.1"}) {
    EXPECT_EQ(to_json(*parse_json(text)), text);
  }
}

TEST(Json, WritesZeroWithoutASign) { EXPECT_EQ(to_json(*parse_json("[0.0,-0.0,-0,-0e1]")), "[0,0,0,0]"); }

TEST(Json, EscapesEachByteThatNeedsItAtEveryPosition) {
  const auto check = [](int byte, std::size_t place, std::size_t size) {
    std::string text(size, '!');
    text[place] = static_cast<char>(byte);
    std::string written;
    write_json(written, text);
    const bool needs_it = byte < 0x20 || byte == '"' || byte == '\\';
    EXPECT_EQ(written.find('\\') == place + 1, needs_it) << byte << " at " << place << " of " << size;
    if (needs_it) {
      EXPECT_EQ(parse_json(written), json::value(text));
    } else {
      EXPECT_EQ(written, '"' + text + '"');
    }
  };
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t size = 1; size <= 20; ++size) {
      for (std::size_t place = 0; place < size; ++place) check(byte, place, size);
    }
  }
}

TEST(Json, EscapesTextsOfAnyLengthAndMixture) {
  std::mt19937 random(7);  // NOLINT: the same texts in each run
  const std::string_view bytes("abcdefghijklmnopqrstuvwxyz\"\\\n\t\x01\x1f", 32);
  for (std::size_t size = 0; size < 5000; size += 1 + size / 10) {
    for (const std::size_t kinds : {1, 8, 27, 32}) {  // from the end of `bytes`: escapes alone, and ever fewer
      std::string text;
      for (std::size_t at = 0; at < size; ++at) text += bytes[bytes.size() - 1 - random() % kinds];
      std::string written;
      write_json(written, text);
      EXPECT_EQ(parse_json(written), json::value(text));
    }
  }
}

TEST(Json, ReadsEachDoubleAsTheNearest) {
  for (const std::string text :
       {"0.00014890000000000001", "123456789.12345679", "5e-324", "1.7976931348623157e+308", "2.2250738585072014e-308",
        "-0.30000000000000004", "1e+23", "-0.7151893663724195", "8.442657485810175e-11"}) {
    EXPECT_EQ(to_json(*parse_json(text)), text);
    EXPECT_EQ(parse_json(text)->get_double(), std::strtod(text.c_str(), nullptr)) << text;
  }
  EXPECT_EQ(*parse_json("1e-400"), 0.0);
}

TEST(Json, WritesEachNumberAsTheShortestTextThatMeansIt) {
  const auto expect_shortest = [](double number) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    EXPECT_EQ(to_json(number), std::string(text.data(), end));
  };
  for (const std::int64_t thousandths : {1, 10, 100, 500, 1'000, 1'050, 99'999, 100'000'000, 100'000'500}) {
    expect_shortest(static_cast<double>(thousandths) / 1000);
    expect_shortest(static_cast<double>(-thousandths) / 1000);
  }
  std::mt19937_64 random(1);
  for (int digits = 1; digits <= 18; ++digits) {
    std::uniform_int_distribution<std::int64_t> some(1, static_cast<std::int64_t>(std::pow(10, digits)));
    for (int i = 0; i < 1000; ++i) {
      const double number = static_cast<double>(some(random)) / 1000;
      for (const double one : {number, std::nextafter(number, 0), std::nextafter(number, 1e300)}) expect_shortest(one);
    }
  }
}

TEST(Json, HasALimitOnTheNumberOfValues) {
  const std::string text = R"({"a":[1,-1,1.5,18446744073709551615,"",true,null,{}]})";
  EXPECT_TRUE(parse_json(text, {.max_values = 10}));
  EXPECT_FALSE(parse_json(text, {.max_values = 9}));
  EXPECT_TRUE(parse_bounded_json(text, {.max_values = 9}).has_too_many_values);
  EXPECT_FALSE(parse_bounded_json("{", {.max_values = 9}).has_too_many_values);
}

TEST(Json, ReplacesInvalidUtf8) {
  EXPECT_EQ(to_utf8("a\xff\xc3\xa9\xe2\x82"), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(is_utf8("\xc3\xa9"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));
}

TEST(Json, FindsInvalidUtf8AtEachPlaceOfALongText) {
  for (std::size_t at = 0; at <= 150; ++at) {
    const std::string before(at, 'a');
    for (const std::size_t after : {0, 1, 64}) {
      const std::string rest(after, 'b');
      EXPECT_TRUE(is_utf8(before + "\xe2\x82\xac" + rest)) << at;
      EXPECT_FALSE(is_utf8(before + "\xe2\x82" + rest)) << at;
      EXPECT_FALSE(is_utf8(before + "\xff" + rest)) << at;
    }
  }
}

}  // namespace
TEST(Json, HasCommentsOnlyWhereTheyAreAllowed) {
  const std::string text = "{/* x */ \"a\": [1, 2,], // y\n}";
  EXPECT_FALSE(parse_json(text));
  EXPECT_EQ(to_json(parse_json(text, {.allow_comments = true}).value()), "{\"a\":[1,2]}");
}

}  // namespace agw
