#include "features/engine/command_expansion.hpp"

#include <gtest/gtest.h>

#include "api/error.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;

/// The text that the model gets for `message` if the command `do` has that prompt; `(plain)` if it is not a command.
std::string read_by_the_model(std::string_view prompt, std::string_view message, bool enabled = true) {
  std::string text;
  with_extensions([&](ExtensionsFixture& fixture) -> Task<> {
    co_await fixture.extensions.create({{"type", "command"},
                                        {"name", "do"},
                                        {"description", "d"},
                                        {"definition", {{"prompt", prompt}}},
                                        {"enabled", enabled}});
    const auto command = expand_command(message, fixture.extensions);
    text = command ? command->text : "(plain)";
  });
  return text;
}

TEST(CommandExpansion, ReplacesPlaceholdersByArguments) {
  EXPECT_EQ(read_by_the_model("Do: $ARGUMENTS!", "/do this  and that"), "Do: this  and that!");
  EXPECT_EQ(read_by_the_model("$2 before $1, $3", "/do a b"), "b before a, ");
  EXPECT_EQ(read_by_the_model("$10$1", "/do 1 2 3 4 5 6 7 8 9 ten"), "ten1");
  EXPECT_EQ(read_by_the_model("[$ARGUMENTS]", "/do \n a\n b \n"), "[a\n b]");
  EXPECT_EQ(read_by_the_model("[$ARGUMENTS|$1]", "/do"), "[|]");
}

TEST(CommandExpansion, AppendsArgumentsThatHaveNoPlaceholder) {
  EXPECT_EQ(read_by_the_model("Review it.", "/do  the $1 file \n"), "Review it.\n\nthe $1 file");
  EXPECT_EQ(read_by_the_model("Review it.", "/do \n"), "Review it.");
  EXPECT_EQ(read_by_the_model("Read $2.", "/do one"), "Read .");
  EXPECT_THROW(read_by_the_model(std::string(8 << 20, 'x'), "/do " + std::string(3 << 20, 'y')), PayloadTooLarge);
}

TEST(CommandExpansion, LeavesTheRestOfThePromptUnchanged) {
  EXPECT_EQ(read_by_the_model("$ $0 $x $$ 5$ $ARGUMENT", "/do a"), "$ $0 $x $$ 5$ $ARGUMENT\n\na");
  EXPECT_EQ(read_by_the_model("$99999999999999999999", "/do"), "$99999999999999999999");
}

TEST(CommandExpansion, IsLimited) {
  std::string prompt;
  for (int i = 0; i < 2000; ++i) prompt += "$ARGUMENTS";
  EXPECT_EQ(read_by_the_model(prompt, "/do " + std::string(5000, 'x')).size(), 2000u * 5000u);
  EXPECT_THROW(read_by_the_model(prompt, "/do " + std::string(6000, 'x')), PayloadTooLarge);
}

TEST(CommandExpansion, DoesNotExpandArguments) {
  EXPECT_EQ(read_by_the_model("$1 $2", "/do $2 $ARGUMENTS"), "$2 $ARGUMENTS");
}

TEST(CommandExpansion, LeavesOtherMessagesAsPlainText) {
  EXPECT_EQ(read_by_the_model("x", "/do", false), "(plain)");
  for (const auto* message : {"do", " /do", "/", "//do", "/do/x", "/do.", "/DO", "/unknown x", "/dark", ""}) {
    EXPECT_EQ(read_by_the_model("x", message), "(plain)") << message;
  }
}

}  // namespace
}  // namespace agw
