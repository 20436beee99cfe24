#include "features/client_api/responses.hpp"

#include <gtest/gtest.h>

#include "api/error.hpp"
#include "features/client_api/anthropic_blocks.hpp"

namespace agw {
namespace {

TEST(Responses, AreRead) {
  auto read = read_response_request(parse_json(R"({"model": "a/b", "instructions": "Be brief.", "stream": true,
      "max_output_tokens": 9, "reasoning": {"effort": "low"}, "input": [{"role": "user", "content": "Hi"},
      {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "1", "output": "done"}]})")
                                        ->as_object());
  EXPECT_TRUE(read.request.stream && read.stores);
  EXPECT_EQ(read.request.call.system, "Be brief.");
  EXPECT_EQ(read.request.call.max_output_tokens, 9);
  EXPECT_EQ(read.request.call.options.reasoning_effort, "low");
  add_input(read.request, read.input);
  ASSERT_EQ(read.request.call.messages.size(), 3U);
  EXPECT_EQ(read.request.call.messages[1].tool_uses.at(0).name, "f");
  EXPECT_EQ(read.request.call.messages[2].tool_name, "f");
}

TEST(Responses, JoinThoughtsThatFollowTheCallsWithTheirAnswer) {
  const auto encrypted = to_signature({.model = "a/b", .blocks = {json::object{{"reasoning_content", "Hm."}}}});
  auto read = read_response_request(
      {{"model", "a/b"},
       {"input",
        json::array{json::object{{"role", "user"}, {"content", "Hi"}},
                    json::object{{"role", "assistant"}, {"content", "Let me look."}},
                    json::object{{"type", "function_call"}, {"call_id", "1"}, {"name", "f"}, {"arguments", "{}"}},
                    json::object{{"type", "reasoning"}, {"summary", json::array()}, {"encrypted_content", encrypted}},
                    json::object{{"type", "function_call_output"}, {"call_id", "1"}, {"output", "done"}}}}});
  add_input(read.request, read.input);
  const auto& messages = read.request.call.messages;
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1].text, "Let me look.");
  EXPECT_EQ(messages[1].tool_uses.size(), 1U);
  EXPECT_EQ(to_json(messages[1].provider_blocks), R"([{"reasoning_content":"Hm."}])");
  EXPECT_EQ(messages[2].role, Message::Role::tool);
}

// https://github.com/caozhiyuan/copilot-api/issues/308
TEST(Responses, IgnoreWhatCodexNotesForItself) {
  auto read = read_response_request(parse_json(R"({"model": "a/b", "input": [{"role": "user", "content": "Hi",
      "internal_chat_message_metadata_passthrough": {"turn_id": "1"}}]})")
                                        ->as_object());
  add_input(read.request, read.input);
  EXPECT_EQ(read.request.call.messages.size(), 1U);
}

TEST(Responses, HaveTheMembersThatTheRequestLeftOut) {
  const auto read = read_response_request({{"model", "a/b"}, {"input", "Hi"}, {"temperature", nullptr}});
  EXPECT_EQ(read.shown.at("temperature"), 1.0);
  EXPECT_EQ(read.shown.at("tools"), json::array());
}

TEST(Responses, TakeNoPictureFromTheSystem) {
  auto read = read_response_request(parse_json(R"({"model": "a/b", "input": [{"role": "system", "content":
      [{"type": "input_image", "image_url": "https://example.org/a.png"}]}]})")
                                        ->as_object());
  EXPECT_THROW(add_input(read.request, read.input), ApiError);
}

}  // namespace
}  // namespace agw
