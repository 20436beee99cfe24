#include <gtest/gtest.h>

#include "models/wire_format.hpp"
#include "testing/wire_reading.hpp"

namespace agw {
namespace {

using testing::read_stream;
using Kind = ModelFailure::Kind;

std::unique_ptr<WireFormat> ollama_wire_format() {
  return ollama_format({.name = "ollama", .kind = ProviderKind::ollama});
}

constexpr std::string_view ollama_stream =
    R"({"model":"qwen3","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Let"},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"","thinking":" me"},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"Hé🔎"},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Paris"}}},{"id":"x","function":{"index":0,"name":"now","arguments":{}}}]},"done":false}
{"model":"qwen3","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":169,"eval_count":15}
)";

TEST(OllamaReader, ReadsThinkingTextAndToolCallsWhereverTheStreamIsCut) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    const auto answer = read_stream(*ollama_wire_format(), ollama_stream, piece);
    EXPECT_EQ(answer.text, "Hé🔎");
    EXPECT_EQ(answer.reasoning, "Let me");
    const auto& reply = answer.reply();
    EXPECT_EQ(reply.stop, StopReason::tool_use);
    ASSERT_EQ(reply.tool_uses.size(), 2u);
    EXPECT_TRUE(reply.tool_uses[0].id.starts_with("call_"));
    EXPECT_EQ(to_json(reply.tool_uses[0].input), R"({"city":"Paris"})");
    EXPECT_EQ(reply.tool_uses[1].id, "x");
    EXPECT_EQ(to_json(reply.provider_blocks), R"([{"thinking":"Let me"}])");
    EXPECT_EQ(reply.usage.input_tokens, 169);
    EXPECT_EQ(reply.usage.output_tokens, 15);
  }
}

TEST(OllamaReader, ReportsHowItEnded) {
  EXPECT_EQ(read_stream(*ollama_wire_format(), R"({"message":{"content":"x"},"done":true,"done_reason":"length"})")
                .reply()
                .stop,
            StopReason::length);
  EXPECT_EQ(read_stream(*ollama_wire_format(), "{\"message\":{\"content\":\"x\"},\"done\":false}\n").failure().kind,
            Kind::unavailable);
  const auto broken = read_stream(
      *ollama_wire_format(), "{\"message\":{\"content\":\"x\"},\"done\":false}\n{\"error\":\"llama runner died\"}\n");
  EXPECT_EQ(broken.text, "x");
  EXPECT_EQ(broken.failure().message, "broke off its answer: llama runner died");
  EXPECT_EQ(read_stream(*ollama_wire_format(), "garbage\n").failure().kind, Kind::protocol);
}

TEST(OllamaReader, JoinsCharactersThatWereCut) {
  const auto answer =
      read_stream(*ollama_wire_format(),
                  "{\"message\":{\"content\":\"a\xf0\x9f\"}}\n{\"message\":{\"content\":\"\x98\x80\"}}\n"
                  "{\"message\":{\"content\":\"b\xe2\x82\"},\"done\":true}\n");
  EXPECT_EQ(answer.text, "a😀b\xef\xbf\xbd");
  const auto broken = read_stream(*ollama_wire_format(), "{\"message\":{\"content\":\"\xf0\x9f\"}}\n");
  EXPECT_EQ(broken.text, "");
}

TEST(OllamaRequest, IsWrittenAsOllamaWantsIt) {
  ModelRequest request;
  request.model = "qwen3";
  request.system = "You are kind.";
  request.temperature = 0.5;
  request.tools.push_back({"get_weather", "Weather of a city", json::object{{"type", "object"}}});
  using Role = Message::Role;
  request.messages.push_back({.role = Role::user, .text = "Look", .images = {{"image/png", "\x01\x02\x03"}}});
  request.messages.push_back({.role = Role::assistant,
                              .tool_uses = {{"a", "get_weather", {{"city", "Paris"}}, {}}},
                              .provider_blocks = {json::object{{"thinking", "hm"}}},
                              .provider_blocks_of = "ollama/qwen3"});
  request.messages.push_back({.role = Role::tool, .text = "15C", .tool_call_id = "a", .tool_name = "get_weather"});
  EXPECT_EQ(
      to_json(ollama_wire_format()->request(request)),
      R"({"model":"qwen3","stream":true,"truncate":false,"options":{"num_predict":8192,"num_ctx":32768,"temperature":0.5},)"
      R"("tools":[{"type":"function","function":{"name":"get_weather","description":"Weather of a city","parameters":{"type":"object"}}}],)"
      R"("messages":[{"role":"system","content":"You are kind."},{"role":"user","content":"Look","images":["AQID"]},)"
      R"({"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"a","function":{"index":0,"name":"get_weather","arguments":{"city":"Paris"}}}]},)"
      R"({"role":"tool","tool_name":"get_weather","tool_call_id":"a","content":"15C"}]})");
}

TEST(OllamaRequest, RemindsOfInstructionsInTheMiddle) {
  ModelRequest request;
  request.messages = {{.text = "Hi"}, {.role = Message::Role::system, .text = "It is noon."}};
  EXPECT_EQ(to_json(ollama_wire_format()->request(request).at("messages").at(1)),
            R"({"role":"user","content":"<system-reminder>\nIt is noon.\n</system-reminder>"})");
}

TEST(OllamaRequest, WantsTheContextWindowThatTheDefinitionNames) {
  const auto wire = ollama_format({.name = "ollama",
                                   .kind = ProviderKind::ollama,
                                   .models = {{.id = "large", .context_window = 65'536}, {.id = "plain"}}});
  const auto window = [&](std::string model) {
    return wire->request({.model = std::move(model)}).at("options").at("num_ctx");
  };
  EXPECT_EQ(window("large"), 65'536);
  EXPECT_EQ(window("plain"), 32'768);
  EXPECT_EQ(window("other"), 32'768);
}

TEST(OllamaRequest, IsMendedForModelsWithStricterTemplates) {
  ModelRequest request;
  request.messages = {{.text = "Hi"}, {.text = "Look"}};
  auto body = ollama_wire_format()->request(request);
  EXPECT_TRUE(ollama_wire_format()->adjust(body, {"Jinja Exception: Conversation roles must alternate", {}, 0}));
  EXPECT_EQ(to_json(body.at("messages")), R"([{"role":"user","content":"Hi\n\nLook"}])");
}

}  // namespace
}  // namespace agw
