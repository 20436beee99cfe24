#include "base/log_ids.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

class LogTest : public ::testing::Test {
protected:
  void TearDown() override {
    log::use(log::Format::text);
    log::open({}, log::Level::info);
  }

  /// Runs `function` with stderr captured and returns the contents of `gateway.log`.
  template <class Function>
  std::string logged(Function function, log::Level level = log::Level::info, log::Format format = log::Format::text) {
    ::testing::internal::CaptureStderr();
    log::use(format);
    log::open(directory_, level);
    function();
    log::close();
    captured_ = ::testing::internal::GetCapturedStderr();
    return content("gateway.log");
  }

  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }

  static unsigned mode(const std::filesystem::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777u;
  }

  testing::ScratchDirectory scratch_;
  std::filesystem::path directory_ = scratch_.path() / "logs";
  std::string captured_;
};

TEST_F(LogTest, WritesLinesToTheFileAndToStderrWithUtcTimes) {
  const auto before = to_iso8601(SystemClock().now());
  const auto text = logged([] { log::info("listening on {}", 7420); });
  EXPECT_THAT(text, ::testing::MatchesRegex("....-..-..T..:..:..\\....Z info listening on 7420\n"));
  EXPECT_LE(before, text.substr(0, 24));
  EXPECT_LE(text.substr(0, 24), to_iso8601(SystemClock().now()));
  EXPECT_EQ(captured_, text);
}

TEST_F(LogTest, ALineNamesItsRequestAndRun) {
  EXPECT_THAT(logged([] { log::warn({.request = "ab-7", .run = "r1"}, "it took {} s", 9); }),
              ::testing::EndsWith(" warning it took 9 s request=ab-7 run=r1\n"));
}

TEST_F(LogTest, AsJsonEveryLineIsAnObject) {
  const auto text = logged(
      [] {
        log::warn({.request = "ab-7"}, "a \"quoted\"\nline \xff");
        log::info("plain");
      },
      log::Level::info, log::Format::json);
  std::istringstream lines(text);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  const auto warning = parse_json(first).value().as_object();
  EXPECT_TRUE(parse_iso8601(std::string(warning.at("time").as_string())));
  EXPECT_EQ(warning.at("level"), "warning");
  EXPECT_EQ(warning.at("message"), "a \"quoted\"\nline \xef\xbf\xbd");
  EXPECT_EQ(warning.at("request"), "ab-7");
  EXPECT_FALSE(warning.contains("run"));
  EXPECT_EQ(parse_json(second).value().as_object().at("message"), "plain");
}

TEST_F(LogTest, LinesBelowTheLevelAreLeftOut) {
  EXPECT_THAT(logged([] { log::debug("detail"); }), "");
  EXPECT_THAT(logged([] { log::debug("detail"); }, log::Level::debug), ::testing::HasSubstr("detail"));
  EXPECT_THAT(logged([] { log::error("trouble"); }, log::Level::off), ::testing::Not(::testing::HasSubstr("trouble")));
}

TEST_F(LogTest, NothingThatIsLoggedCanForgeALine) {
  const auto text = logged([] { log::warn("name: {}", "a\n2026 error forged\r\x1b[2J\x7f\xc2\x9b\t|\xff|é"); });
  EXPECT_THAT(
      text, ::testing::EndsWith("name: a\\n2026 error forged\\u000d\\u001b[2J\\u007f\\u009b\\u0009|\xef\xbf\xbd|é\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST_F(LogTest, AFailedAssertionIsInTheFileBeforeTheProcessEnds) {
  const auto fail = [this] {
    log::open(directory_, log::Level::info);
    AGW_ASSERT(directory_.empty());
  };
  EXPECT_DEATH(fail(), "log_test.cpp:[0-9]+");
  EXPECT_THAT(content("gateway.log"), ::testing::HasSubstr("src/base/log_test.cpp:113"));
}

TEST_F(LogTest, AFailedAssertionIsOnStderrIfTheLogIsOff) {
  const auto fail = [this] {
    log::open(directory_, log::Level::off);
    AGW_ASSERT(directory_.empty());
  };
  EXPECT_DEATH(fail(), "assertion failed: .*log_test.cpp:[0-9]+");
}

TEST_F(LogTest, RotatesAtTenMebibytesAndKeepsFiveOldFiles) {
  const std::string mebibyte(1024 * 1024, 'x');
  logged([&] {
    for (int i = 0; i < 75; ++i) log::write(log::Level::info, mebibyte);
  });
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory_)) {
    ++files;
    EXPECT_LE(file.file_size(), 10u * 1024 * 1024) << file.path();
    EXPECT_EQ(mode(file.path()), 0600u) << file.path();
  }
  EXPECT_EQ(files, 6u);
}

TEST_F(LogTest, DirectoryAndFilesAreForTheirOwnerAlone) {
  std::filesystem::create_directory(directory_);
  std::ofstream(directory_ / "gateway.log") << "old\n";
  ASSERT_EQ(::chmod((directory_ / "gateway.log").c_str(), 0644), 0);
  EXPECT_THAT(logged([] { log::info("new"); }), ::testing::StartsWith("old\n")) << "what was there stays";
  EXPECT_EQ(mode(directory_ / "gateway.log"), 0600u);

  directory_ = scratch_.path() / "others";
  logged([] {});
  EXPECT_EQ(mode(directory_), 0700u);
}

TEST_F(LogTest, ADirectoryThatCannotBeWrittenIsAClearError) {
  const auto error_of = [](const std::filesystem::path& directory) -> std::string {
    try {
      log::open(directory, log::Level::info);
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      return error.what();
    }
    return "no error";
  };
  std::ofstream(directory_) << "a file";
  EXPECT_EQ(error_of(directory_), "cannot write the log " + directory_.string() + "/gateway.log: Not a directory");
  EXPECT_THAT(error_of(scratch_.path() / "a/b"), ::testing::EndsWith("a/b: No such file or directory"));
  std::filesystem::create_directories(scratch_.path() / "c/gateway.log");
  EXPECT_THAT(error_of(scratch_.path() / "c"), ::testing::EndsWith("gateway.log: Is a directory"));
}

/// Replaces stderr by a pipe or terminal that is read only on request.
class UnreadStandardError {
public:
  enum class Kind { pipe, terminal };

  explicit UnreadStandardError(Kind kind) {
    std::array<int, 2> ends{};
    EXPECT_EQ(kind == Kind::pipe ? ::pipe(ends.data()) : ::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
    reading_ = ends[0];
    ::fcntl(reading_, F_SETFL, O_NONBLOCK);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
  }
  ~UnreadStandardError() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(reading_);
  }
  UnreadStandardError(const UnreadStandardError&) = delete;
  UnreadStandardError& operator=(const UnreadStandardError&) = delete;

  std::string read() const {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t size = 0; (size = ::read(reading_, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

private:
  int before_ = ::dup(STDERR_FILENO);
  int reading_ = -1;
};

int occurrences(std::string_view text, std::string_view part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// The sum over all notices: a terminal sometimes accepts a few more bytes.
int left_out(const std::string& text) {
  static const std::regex notice("Z warning lines left out here, as stderr was not read in time: ([0-9]+)");
  int count = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), notice), end; found != end; ++found) {
    count += std::stoi((*found)[1]);
  }
  return count;
}

class UnreadLogTest : public LogTest, public ::testing::WithParamInterface<UnreadStandardError::Kind> {};

TEST_P(UnreadLogTest, AStalledReaderDoesNotBlockTheLogAndTheNextLineCountsDroppedLines) {
  constexpr int count = 3000;
  const UnreadStandardError standard_error(GetParam());
  log::open(directory_, log::Level::info);
  for (int i = 0; i < count; ++i) log::info("line {} {}", i, std::string(200, 'x'));
  const auto before = standard_error.read();
  log::info("the last");
  const auto text = before + standard_error.read();
  const auto shown = occurrences(text, " info line ");
  EXPECT_LT(shown, count);
  EXPECT_EQ(shown + left_out(text), count);
  EXPECT_THAT(text, ::testing::ContainsRegex("Z info the last\r?\n$"));
  const auto file = content("gateway.log");
  EXPECT_EQ(occurrences(file, "\n"), count + 1);
  log::open({}, log::Level::info);
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnreadLogTest,
                         ::testing::Values(UnreadStandardError::Kind::pipe, UnreadStandardError::Kind::terminal),
                         [](const auto& info) {
                           return info.param == UnreadStandardError::Kind::pipe ? "Pipe" : "Terminal";
                         });

}  // namespace
}  // namespace agw
