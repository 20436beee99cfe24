#include "models/fitting_names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(FittingNames, AreUsedInTheWholeRequest) {
  const std::string own(70, 'x');
  ModelRequest request;
  request.tools = {{"weather", "", json::object()}, {own, "", json::object()}};
  request.messages = {{.role = Message::Role::assistant, .tool_uses = {{"c1", own, {}, {}}}},
                      {.role = Message::Role::tool, .tool_name = own}};
  request.options.tool_choice = ToolChoice{ToolChoice::Kind::named, own};
  const FittingNames names(request, ProviderKind::openai);
  ASSERT_FALSE(names.empty());
  names.apply(request);
  const auto name = request.tools[1].name;
  EXPECT_EQ(name.size(), 64u);
  EXPECT_EQ(request.tools[0].name, "weather");
  EXPECT_EQ(request.messages[0].tool_uses[0].name, name);
  EXPECT_EQ(request.messages[1].tool_name, name);
  EXPECT_EQ(request.options.tool_choice->name, name);
  ModelOutcome outcome = ModelReply{.tool_uses = {{"c2", name, {}, {}}, {"c3", "weather", {}, {}}}};
  names.restore(outcome);
  EXPECT_EQ(std::get<ModelReply>(outcome).tool_uses[0].name, own);
  EXPECT_EQ(std::get<ModelReply>(outcome).tool_uses[1].name, "weather");
  EXPECT_EQ(names.restored({Delta::Kind::call, {}, 0, "c2", name}).name, own);
  EXPECT_TRUE(FittingNames(request, ProviderKind::openai).empty());
}

TEST(FittingNames, DependOnTheService) {
  ModelRequest request;
  request.tools = {{"1password__get", "", json::object()}};
  EXPECT_TRUE(FittingNames(request, ProviderKind::openai).empty());
  const FittingNames names(request, ProviderKind::gemini);
  names.apply(request);
  EXPECT_EQ(request.tools[0].name, "_1password__get");
  EXPECT_EQ(names.restored({Delta::Kind::call, {}, 0, "c1", "_1password__get"}).name, "1password__get");
  request.tools[0].name = std::string(128, 'x');
  EXPECT_TRUE(FittingNames(request, ProviderKind::anthropic).empty());
  EXPECT_TRUE(FittingNames(request, ProviderKind::ollama).empty());
}

}  // namespace
}  // namespace agw
