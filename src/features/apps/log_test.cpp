#include "features/apps/log.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::vector<std::string> texts(const AppLog& log, std::size_t count = AppLog::max_lines) {
  std::vector<std::string> lines;
  for (auto& line : log.last(count)) lines.push_back(line.line);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(AppLog, JoinsLinesFromPieces) {
  AppLog log;
  log.add(AppStream::out, "one\ntw", {});
  log.add(AppStream::err, "error\r\n", {});
  log.add(AppStream::out, "o\n\nthree", {});
  EXPECT_EQ(texts(log), (Lines{"one", "error", "two", ""}));
  log.finish(AppStream::out, {});
  log.finish(AppStream::out, {});
  EXPECT_EQ(texts(log), (Lines{"one", "error", "two", "", "three"}));
  EXPECT_EQ(log.last(2).front().line, "");
}

TEST(AppLog, KeepsTheLatestLines) {
  AppLog log;
  std::string flood;
  for (int i = 0; i < 10'000; ++i) flood += std::to_string(i) + "\n";
  log.add(AppStream::out, "unfinished", {});
  log.add(AppStream::out, flood + "rest", {});
  const auto kept = texts(log);
  EXPECT_EQ(kept.size(), AppLog::max_lines);
  EXPECT_EQ(kept.front(), "8000");
  EXPECT_EQ(kept.back(), "9999");
  log.add(AppStream::out, " of it\n", {});
  EXPECT_EQ(texts(log, 1), Lines{"rest of it"});
}

TEST(AppLog, CutsLongLines) {
  AppLog log;
  for (int i = 0; i < 1000; ++i) log.add(AppStream::out, std::string(1000, 'x'), {});
  log.add(AppStream::out, "\nnext\n", {});
  EXPECT_EQ(texts(log), (Lines{std::string(AppLog::max_line_length, 'x') + "…", "next"}));
}

TEST(AppLog, IsAlwaysUtf8) {
  AppLog log;
  log.add(AppStream::out, "a\xff\xc3\n", {});
  EXPECT_EQ(texts(log), Lines{"a\uFFFD\uFFFD"});
}

}  // namespace
}  // namespace agw
