#include "cli/command_line.hpp"

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_table.hpp"

namespace agw::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The result of `arguments` with the real table and a gateway that only records its options.
struct Outcome {
  std::optional<ServeOptions> served;
  Notice notice{-1, ""};
};

Outcome read(const std::vector<std::string>& arguments) {
  Outcome outcome;
  const auto table = commands([&](const ServeOptions& options) {
    outcome.served = options;
    return 0;
  });
  const auto parsed = parse(table, arguments);
  if (const auto* notice = std::get_if<Notice>(&parsed)) {
    outcome.notice = *notice;
  } else {
    std::get<Action>(parsed)();
  }
  return outcome;
}

/// The result of `arguments` for one command with an argument of each kind.
struct Kinds {
  bool flag = false;
  std::optional<std::string> text;
  std::optional<int> number;
  std::optional<std::string> word;
  std::optional<std::string> note;
  std::variant<Action, Notice> parsed;
};

Kinds read_kinds(const std::vector<std::string>& arguments) {
  Kinds kinds;
  const std::vector<Command> table = {
      {"say", "Says something",
       [&](Arguments& declared) {
         declared.flag("--loud", kinds.flag, "");
         declared.option("--to", kinds.text, "");
         declared.option("--times", kinds.number, 1, 9, "");
         declared.word("message", kinds.word, "");
         declared.word("note", kinds.note, "", true);
         return [] { return 7; };
       }},
      {"status", "Another command", [](Arguments&) { return [] { return 8; }; }},
  };
  kinds.parsed = parse(table, arguments);
  return kinds;
}

TEST(CommandLine, WithoutArgumentsPrintsHelp) {
  const auto outcome = read({});
  EXPECT_EQ(outcome.notice.status, 0);
  EXPECT_THAT(outcome.notice.text, HasSubstr("Usage: agw"));
  EXPECT_THAT(outcome.notice.text, HasSubstr("Run the gateway in the foreground"));
}

TEST(CommandLine, HelpOfACommandNamesItsOptions) {
  const auto outcome = read({"serve", "--help"});
  EXPECT_EQ(outcome.notice.status, 0);
  EXPECT_THAT(outcome.notice.text, HasSubstr("--no-token"));
}

TEST(CommandLine, PrintsTheVersion) {
  const auto outcome = read({"--version"});
  EXPECT_EQ(outcome.notice.status, 0);
  EXPECT_EQ(outcome.notice.text, "agw " AGW_VERSION "\n");
}

TEST(CommandLine, UnknownArgumentsAreAUsageError) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"dance"}, {"--dance"}, {"serve", "--dance"}, {"serve", "now"}, {"serve", "--host"}}) {
    const auto outcome = read(arguments);
    EXPECT_EQ(outcome.notice.status, 2) << arguments.back();
    EXPECT_THAT(outcome.notice.text, HasSubstr("--help"));
  }
}

TEST(CommandLine, SaysThatATextHasToBeQuoted) {
  EXPECT_THAT(read({"chat", "What", "is", "new?"}).notice.text, HasSubstr("is new?; quote a text that has spaces\n"));
  EXPECT_THAT(read({"chat", "Hello", "--dance"}).notice.text, Not(HasSubstr("quote")));
  EXPECT_THAT(read({"serve", "now"}).notice.text, Not(HasSubstr("quote")));
}

TEST(CommandLine, ServeTakesItsFlags) {
  const auto outcome = read({"serve", "--host", "0.0.0.0", "--port", "0", "--data-dir=/tmp/d", "--config", "c.yaml",
                             "--no-token", "--log-level", "debug"});
  ASSERT_TRUE(outcome.served);
  EXPECT_EQ(outcome.served->host, "0.0.0.0");
  EXPECT_EQ(outcome.served->port, 0);
  EXPECT_EQ(outcome.served->data_dir, "/tmp/d");
  EXPECT_EQ(outcome.served->config, "c.yaml");
  EXPECT_TRUE(outcome.served->no_token);
  EXPECT_EQ(outcome.served->log_level, "debug");
}

TEST(CommandLine, ServeLeavesOmittedOptionsUnset) {
  const auto outcome = read({"serve"});
  ASSERT_TRUE(outcome.served);
  EXPECT_FALSE(outcome.served->host || outcome.served->port || outcome.served->data_dir || outcome.served->config ||
               outcome.served->no_token || outcome.served->log_level);
}

TEST(CommandLine, ServeRefusesInvalidValues) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--port", "65536"}, {"--port", "-1"}, {"--port", "80x"}, {"--log-level", "loud"}}) {
    const auto outcome = read({"serve", arguments[0], arguments[1]});
    EXPECT_EQ(outcome.notice.status, 2) << arguments[1];
    EXPECT_THAT(outcome.notice.text, HasSubstr(arguments[0]));
    EXPECT_THAT(outcome.notice.text, HasSubstr(arguments[1]));
  }
}

TEST(CommandLine, EveryCommandExplainsItselfAndTakesTheDataDirectoryIfItNeedsOne) {
  const std::set<std::string_view> needs_none{"completion", "man", "service uninstall", "service status"};
  for (const auto& command : commands({})) {
    if (!command.declare) continue;
    std::vector<std::string> arguments;
    std::istringstream words{std::string(command.name)};
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.push_back("--help");
    const auto outcome = read(arguments);
    EXPECT_EQ(outcome.notice.status, 0) << command.name;
    EXPECT_TRUE(needs_none.contains(command.name) || outcome.notice.text.find("--data-dir") != std::string::npos)
        << command.name;
    EXPECT_THAT(outcome.notice.text, HasSubstr(std::string(command.about))) << command.name;
  }
}

TEST(CommandLine, WordsAreOneOrMore) {
  std::vector<std::string> words;
  const std::vector<Command> table = {{"find", "Finds", [&](Arguments& declared) {
                                         declared.words("words", words, "");
                                         return [] { return 0; };
                                       }}};
  EXPECT_EQ(std::get<Notice>(parse(table, {"find"})).status, 2);
  ASSERT_TRUE(std::holds_alternative<Action>(parse(table, {"find", "one"})));
  EXPECT_EQ(words, std::vector<std::string>{"one"});
  ASSERT_TRUE(std::holds_alternative<Action>(parse(table, {"find", "two", "words", "\"and a phrase\""})));
  EXPECT_EQ(words, (std::vector<std::string>{"two", "words", "\"and a phrase\""}));
}

TEST(CommandLine, LimitsAreWholeNumbersFromOne) {
  for (const std::string limit : {"0", "-1", "x", "1.5"}) {
    EXPECT_EQ(read({"threads", "--limit", limit}).notice.status, 2) << limit;
  }
}

TEST(CommandLine, AWordIsTakenLiterally) {
  for (const std::string message : {"hello", "[a,b]", "{}", "%%", "-", "status", "a b\nc", "\"quoted\"", "/help"}) {
    const auto kinds = read_kinds({"say", "--times", "3", message});
    ASSERT_TRUE(std::holds_alternative<Action>(kinds.parsed)) << message << std::get<Notice>(kinds.parsed).text;
    EXPECT_EQ(std::get<Action>(kinds.parsed)(), 7);
    EXPECT_EQ(kinds.word, message);
    EXPECT_EQ(kinds.number, 3);
  }
}

TEST(CommandLine, AWordIsEmptyOnlyIfItMayBe) {
  const auto refused = std::get<Notice>(read_kinds({"say", ""}).parsed);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.text, HasSubstr("message: is empty"));
  EXPECT_EQ(read_kinds({"say", "hello", ""}).note, "");
}

TEST(CommandLine, OptionsMayFollowTheWordAndTakeTextLiterally) {
  const auto kinds = read_kinds({"say", "hello", "--to", "{}", "--loud"});
  EXPECT_EQ(kinds.word, "hello");
  EXPECT_EQ(kinds.text, "{}");
  EXPECT_TRUE(kinds.flag);
}

TEST(CommandLine, AfterTwoDashesNothingIsAnOption) { EXPECT_EQ(read_kinds({"say", "--", "--loud"}).word, "--loud"); }

TEST(CommandLine, AGroupNeedsOneOfItsCommands) {
  const std::vector<Command> table = {{"token", "The token", {}},
                                      {"token show", "Print it", [](Arguments&) { return [] { return 5; }; }}};
  EXPECT_EQ(std::get<Action>(parse(table, {"token", "show"}))(), 5);
  EXPECT_EQ(std::get<Notice>(parse(table, {"token"})).status, 2);
  EXPECT_EQ(std::get<Notice>(parse(table, {"token", "dance"})).status, 2);
}

TEST(CommandLine, OnlyTheNamedCommandIsDeclared) {
  std::vector<std::string> declared;
  const auto row = [&](std::string_view name) {
    return Command{name, "about", [&declared, name](Arguments&) {
                     declared.emplace_back(name);
                     return [] { return 0; };
                   }};
  };
  const std::vector<Command> table = {row("serve"), {"token", "The token", {}}, row("token show"), row("status")};
  parse(table, {"serve"});
  EXPECT_EQ(declared, std::vector<std::string>{"serve"});
  declared.clear();
  parse(table, {"token", "show"});
  EXPECT_EQ(declared, std::vector<std::string>{"token show"});
  declared.clear();
  EXPECT_THAT(std::get<Notice>(parse(table, {"--help"})).text, HasSubstr("status"));
  EXPECT_EQ(declared.size(), 3u);
}

TEST(CommandLine, AWordThatIsNoCommandOfItsGroupIsNamed) {
  for (const std::string group : {"ext", "token", "proposals"}) {
    const auto outcome = read({group, "bogus"});
    EXPECT_EQ(outcome.notice.status, 2);
    EXPECT_THAT(outcome.notice.text, HasSubstr("agw " + group + ": there is no command bogus"));
  }
  EXPECT_THAT(read({"bogus"}).notice.text, HasSubstr("agw: there is no command bogus"));
}

TEST(CommandLine, ASimilarCommandOrOptionIsProposed) {
  EXPECT_THAT(read({"models"}).notice.text, HasSubstr("agw: there is no command models; did you mean model?"));
  EXPECT_THAT(read({"ext", "lst"}).notice.text, HasSubstr("there is no command lst; did you mean list?"));
  EXPECT_THAT(read({"ext", "list", "--jsn"}).notice.text, HasSubstr("--jsn; did you mean --json?"));
  EXPECT_THAT(read({"serve", "--prt=1"}).notice.text, HasSubstr("--prt=1; did you mean --port?"));
  EXPECT_THAT(read({"bogus"}).notice.text, Not(HasSubstr("did you mean")));
}

TEST(CommandLine, AnOptionBeforeItsCommandIsExplained) {
  for (const std::string option : {"--data-dir", "--data-dir=x"}) {
    const auto text = read({option, "status"}).notice.text;
    EXPECT_THAT(text, HasSubstr("; write --data-dir after the command"));
    EXPECT_THAT(text, Not(HasSubstr("did you mean")));
  }
}

TEST(CommandLine, MissingArgumentsAreNamed) {
  EXPECT_THAT(read({"token"}).notice.text, HasSubstr("agw token: a command is missing"));
  EXPECT_THAT(read({"serve", "--port"}).notice.text, HasSubstr("agw serve: --port needs a value"));
}

TEST(CommandLine, ChatKnowsItsModes) {
  const auto outcome = read({"chat", "--mode", "bogus", "hello"});
  EXPECT_EQ(outcome.notice.status, 2);
  EXPECT_THAT(outcome.notice.text, HasSubstr("bogus is not one of plan act"));
}

TEST(CommandLine, ACommandThatIsAlsoAGroupRunsByItself) {
  const std::vector<Command> table = {{"proposals", "List them", [](Arguments&) { return [] { return 1; }; }},
                                      {"proposals show", "Show one", [](Arguments&) { return [] { return 2; }; }}};
  EXPECT_EQ(std::get<Action>(parse(table, {"proposals"}))(), 1);
  EXPECT_EQ(std::get<Action>(parse(table, {"proposals", "show"}))(), 2);
}

}  // namespace
}  // namespace agw::cli
