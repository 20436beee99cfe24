#include <gtest/gtest.h>

#include "base/json/json_values.hpp"
#include "models/wire_format.hpp"
#include "testing/wire_reading.hpp"

namespace agw {
namespace {

using testing::read_stream;

ToolDescription named_tool(std::string name) {
  return {std::move(name), "what it does", json::object{{"type", "object"}}};
}

/// The agent searched and found `b`; `c` was found in turns that the request no longer contains.
ModelRequest searching_request(std::string model) {
  ModelRequest request;
  request.model = std::move(model);
  request.tools = {named_tool("FindTools"), named_tool("Read"), named_tool("c"), named_tool("b")};
  request.deferred_tools = std::make_shared<const std::vector<ToolDescription>>(
      std::vector{named_tool("a"), named_tool("b"), named_tool("c")});
  Message question;
  question.text = "Which?";
  Message call;
  call.role = Message::Role::assistant;
  call.tool_uses = {{"call_1", "FindTools", {{"query", "bee"}}}};
  Message result;
  result.role = Message::Role::tool;
  result.text = "1 of the tools match: b";
  result.tool_call_id = "call_1";
  result.tool_name = "FindTools";
  result.found_tools = {"b", "deleted"};
  request.messages = {question, call, result};
  return request;
}

auto anthropic_wire(std::string url = "https://api.anthropic.com") {
  return anthropic_format({.name = "anthropic", .kind = ProviderKind::anthropic, .base_url = std::move(url)});
}
auto responses_wire(std::string url = "https://api.openai.com/v1") {
  return openai_responses_format({.name = "openai", .kind = ProviderKind::openai, .base_url = std::move(url)});
}

std::string names_in_tools(const json::value& tools, std::string_view only_with = {}) {
  std::string names;
  for (const auto& entry : tools.as_array()) {
    const auto& members = entry.as_object();
    if (!only_with.empty() && !members.contains(only_with)) continue;
    names += (names.empty() ? "" : " ") + string_or_empty(members, members.contains("name") ? "name" : "type");
  }
  return names;
}

TEST(DeferredToolsForAnthropic, AreDefinedBehindTheOthersAndReferredTo) {
  const auto body = anthropic_wire()->request(searching_request("claude-sonnet-5-5"));
  EXPECT_EQ(names_in_tools(body.at("tools")), "FindTools Read c a b");
  EXPECT_EQ(names_in_tools(body.at("tools"), "defer_loading"), "a b");
  EXPECT_EQ(names_in_tools(body.at("tools"), "cache_control"), "c") << "a deferred tool must have none";
  const auto& result = body.at("messages").as_array().back().at("content").as_array()[0].as_object();
  EXPECT_EQ(to_json(result.at("content")), R"([{"type":"tool_reference","tool_name":"b"}])");
}

TEST(DeferredToolsForAnthropic, StayTheSameWhenOneIsFound) {
  auto before = searching_request("claude-opus-4-5");
  before.tools = {named_tool("FindTools"), named_tool("Read")};
  before.messages.resize(1);
  auto after = searching_request("claude-opus-4-5");
  after.tools = {named_tool("FindTools"), named_tool("Read"), named_tool("b")};
  EXPECT_EQ(to_json(anthropic_wire()->request(before).at("tools")),
            to_json(anthropic_wire()->request(after).at("tools")));
}

TEST(DeferredToolsForAnthropic, AreLeftOutForOlderModelsAndOtherServices) {
  for (const auto& body : {anthropic_wire()->request(searching_request("claude-3-7-sonnet")),
                           anthropic_wire("https://other.example")->request(searching_request("claude-sonnet-5-5"))}) {
    EXPECT_EQ(names_in_tools(body.at("tools")), "FindTools Read c b");
    EXPECT_EQ(to_json(body).find("defer_loading"), std::string::npos);
    EXPECT_EQ(to_json(body).find("tool_reference"), std::string::npos);
  }
}

TEST(DeferredToolsForAnthropic, AreDefinedAtOnceIfTheModelRefusesThem) {
  auto body = anthropic_wire()->request(searching_request("claude-sonnet-5-5"));
  EXPECT_TRUE(
      anthropic_wire()->adjust(body, {"tools.2.custom.defer_loading: Extra inputs are not permitted", {}, 400}));
  EXPECT_EQ(names_in_tools(body.at("tools")), "FindTools Read c b");
  EXPECT_EQ(to_json(body).find("tool_reference"), std::string::npos);
  EXPECT_EQ(to_json(body).find("defer_loading"), std::string::npos);
}

TEST(DeferredToolsForResponses, AreSearchedWithTheServicesOwnTool) {
  const auto body = responses_wire()->request(searching_request("gpt-5.4"));
  EXPECT_EQ(names_in_tools(body.at("tools")), "tool_search Read c");
  EXPECT_EQ(body.at("tools").as_array()[0].at("execution").as_string(), "client");
  const auto& input = body.at("input").as_array();
  EXPECT_EQ(to_json(input[1]), R"({"type":"tool_search_call","call_id":"call_1","execution":"client",)"
                               R"("status":"completed","arguments":{"query":"bee"}})");
  EXPECT_EQ(input[2].at("type").as_string(), "tool_search_output");
  EXPECT_EQ(names_in_tools(input[2].at("tools"), "defer_loading"), "b");
}

TEST(DeferredToolsForResponses, ASearchOfTheModelIsACallOfFindTools) {
  constexpr std::string_view stream =
      R"(data: {"type":"response.output_item.done","output_index":0,"item":{"type":"tool_search_call","call_id":"call_7","execution":"client","arguments":{"query":"bee"},"status":"completed"}}

data: {"type":"response.output_item.done","output_index":1,"item":{"type":"tool_search_call","call_id":null,"execution":"server","arguments":{"paths":["x"]},"status":"completed"}}

data: {"type":"response.completed","response":{"status":"completed","output":[]}}

)";
  const auto answer = read_stream(*responses_wire(), stream);
  ASSERT_EQ(answer.reply().tool_uses.size(), 1U);
  const auto& use = answer.reply().tool_uses[0];
  EXPECT_EQ(use.id + " " + use.name + " " + to_json(use.input), R"(call_7 FindTools {"query":"bee"})");
}

TEST(DeferredToolsForResponses, AreLeftOutForOlderModelsAndOtherServices) {
  for (const auto& body : {responses_wire()->request(searching_request("gpt-5.3")),
                           responses_wire()->request(searching_request("gpt-5-mini")),
                           responses_wire()->request(searching_request("o4-mini")),
                           responses_wire("https://other.example/v1")->request(searching_request("gpt-6"))}) {
    EXPECT_EQ(names_in_tools(body.at("tools")), "FindTools Read c b");
    EXPECT_EQ(to_json(body).find("tool_search"), std::string::npos);
  }
}

TEST(DeferredToolsForResponses, AreFunctionsIfTheModelRefusesTheSearch) {
  auto body = responses_wire()->request(searching_request("gpt-5.4-nano"));
  EXPECT_TRUE(responses_wire()->adjust(body, {"tool_search is not supported with this model", {}, 400}));
  EXPECT_EQ(names_in_tools(body.at("tools")), "FindTools Read c b");
  EXPECT_EQ(to_json(body).find("tool_search"), std::string::npos);
  EXPECT_FALSE(responses_wire()->adjust(body, {"tool_search is not supported with this model", {}, 400}));
}

}  // namespace
}  // namespace agw
