#include "features/client_api/chat_completions.hpp"

#include <gtest/gtest.h>

#include "api/error.hpp"

namespace agw {
namespace {

ChatCompletion read_completion(std::string_view body) { return read_chat_completion(parse_json(body)->as_object()); }

TEST(ChatCompletions, AreRead) {
  const auto [request, includes_usage] = read_completion(R"({"model": "a/b", "stream": true, "stream_options":
      {"include_usage": true}, "max_completion_tokens": 9, "tools": [{"type": "function", "function": {"name": "f"}}],
      "tool_choice": {"type": "function", "function":
      {"name": "f"}}, "messages": [{"role": "developer", "content": "Be brief."},
      {"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "tool_calls":
      [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "done"}], "metadata": {"thread_id": "t"}})");
  EXPECT_EQ(request.model, "a/b");
  EXPECT_TRUE(request.stream && includes_usage);
  EXPECT_EQ(request.thread_id, "t");
  EXPECT_EQ(request.call.system, "Be brief.");
  EXPECT_EQ(request.call.max_output_tokens, 9);
  EXPECT_EQ(request.call.options.tool_choice->name, "f");
  ASSERT_EQ(request.call.messages.size(), 3U);
  EXPECT_EQ(request.call.messages[0].text, "Hi");
  EXPECT_EQ(request.call.messages[1].tool_uses.at(0).name, "f");
  EXPECT_EQ(request.call.messages[2].tool_name, "f");
}

TEST(ChatCompletions, AreWrittenAsAStreamWithOneEnd) {
  const auto writer = chat_completion_writer(false);
  ClientAnswer answer{.id = "1", .model = "m"};
  EXPECT_NE(writer->begin(answer).find(R"("role":"assistant")"), std::string::npos);
  EXPECT_NE(writer->delta(answer, {Delta::Kind::call, {}, 1, "id", "f"}).find(R"("index":1)"), std::string::npos);
  EXPECT_TRUE(writer->end(answer).ends_with("data: [DONE]\n\n"));
  EXPECT_TRUE(writer->fail(answer, BadRequest("no")).ends_with("data: [DONE]\n\n"));
}

TEST(ClientProduct, IsTheFirstOfTheUserAgent) {
  EXPECT_EQ(client_product("codex_cli_rs/0.1 (Linux)"), "codex_cli_rs");
  EXPECT_EQ(client_product(std::nullopt), "api");
  EXPECT_EQ(client_product("<script>"), "api");
}

}  // namespace
}  // namespace agw
