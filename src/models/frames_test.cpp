#include "models/frames.hpp"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Seen = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t small_limit = 32;

OnFrame append_to(Seen& seen) {
  return [&seen](const Frame& frame) { seen.emplace_back(frame.event, frame.data); };
}

/// The events of a stream that arrives in pieces of `piece` bytes.
Seen events(std::string_view stream, std::size_t piece = std::string_view::npos) {
  Seen seen;
  const auto splitter = split_events(append_to(seen));
  for (; !stream.empty(); stream.remove_prefix(std::min(piece, stream.size()))) {
    EXPECT_TRUE(splitter->feed(stream.substr(0, piece)));
  }
  splitter->finish();
  return seen;
}

TEST(SplitEvents, FindsNamedAndUnnamedEvents) {
  EXPECT_THAT(events("event: ping\ndata: {}\n\ndata: [DONE]\n\n"), ElementsAre(Pair("ping", "{}"), Pair("", "[DONE]")));
}

TEST(SplitEvents, IsTheSameWhereverTheStreamIsCut) {
  const std::string_view stream =
      "\xef\xbb\xbf: hello\r\nevent: a\r\ndata: {\"t\": \"gr\xc3\xbc\xc3\x9f\"}\r\nid: 7\r\n\r\n"
      "data:one\ndata: two\n\n\n\revent:b\rdata: three\r\r\ndata: last\n\n";
  const auto whole = events(stream);
  EXPECT_THAT(whole, ElementsAre(Pair("a", "{\"t\": \"gr\xc3\xbc\xc3\x9f\"}"), Pair("", "one\ntwo"), Pair("b", "three"),
                                 Pair("", "last")));
  for (std::size_t piece = 1; piece < stream.size(); ++piece) EXPECT_EQ(events(stream, piece), whole) << piece;
}

TEST(SplitEvents, IgnoresCommentsUnknownFieldsAndEventsWithoutData) {
  EXPECT_THAT(events(": OPENROUTER PROCESSING\n\nevent: lonely\n\nretry: 10\ngarbage\n\n"), IsEmpty());
}

TEST(SplitEvents, TakesOneSpaceOnlyFromAValue) { EXPECT_THAT(events("data:  x \n\n"), ElementsAre(Pair("", " x "))); }

TEST(SplitEvents, TakesALastEventWithoutItsBlankLine) {
  EXPECT_THAT(events("data: [DONE]\n"), ElementsAre(Pair("", "[DONE]")));
  EXPECT_THAT(events("data: [DONE]"), ElementsAre(Pair("", "[DONE]")));
}

TEST(SplitEvents, RefusesAnEventWithoutEnd) {
  Seen seen;
  EXPECT_FALSE(split_events(append_to(seen), small_limit)->feed("data: " + std::string(small_limit, 'x')));
  EXPECT_FALSE(split_events(append_to(seen), small_limit)->feed("data: " + std::string(small_limit, 'x') + "\n\n"));
  const auto many_lines = split_events(append_to(seen), small_limit);
  bool fits = true;
  for (int i = 0; i < 20 && fits; ++i) fits = many_lines->feed("data: xxxx\n");
  EXPECT_FALSE(fits);
  EXPECT_THAT(seen, IsEmpty());
}

TEST(SplitLines, FindsLinesWhereverTheStreamIsCut) {
  const std::string_view stream = "{\"a\":1}\n\r\n  \n{\"b\":2}\r\n{\"c\":3}";
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    Seen seen;
    const auto splitter = split_lines(append_to(seen));
    for (auto rest = stream; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
      EXPECT_TRUE(splitter->feed(rest.substr(0, piece)));
    }
    splitter->finish();
    EXPECT_THAT(seen, ElementsAre(Pair("", "{\"a\":1}"), Pair("", "{\"b\":2}"), Pair("", "{\"c\":3}"))) << piece;
  }
}

TEST(TakeWhole, GivesTheBodyAtItsEnd) {
  Seen seen;
  const auto splitter = whole_body(append_to(seen), small_limit);
  EXPECT_TRUE(splitter->feed("{\n"));
  EXPECT_TRUE(splitter->feed("}"));
  EXPECT_THAT(seen, IsEmpty());
  splitter->finish();
  EXPECT_THAT(seen, ElementsAre(Pair("", "{\n}")));
  EXPECT_FALSE(splitter->feed(std::string(small_limit, 'x')));
}

}  // namespace
}  // namespace agw
