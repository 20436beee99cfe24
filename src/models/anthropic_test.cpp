#include <gtest/gtest.h>

#include "models/wire_format.hpp"
#include "testing/wire_reading.hpp"

namespace agw {
namespace {

using testing::read_stream;

constexpr std::string_view anthropic_stream = R"(event: message_start
data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":11,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Check"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"ing 🔎"}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Pa"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"ris\"}"}}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

)";

std::unique_ptr<WireFormat> anthropic_wire_format() {
  return anthropic_format({.name = "anthropic", .kind = ProviderKind::anthropic, .api_key = "secret"});
}

TEST(AnthropicReader, ReadsThinkingTextAndToolCallsWhereverTheStreamIsCut) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    const auto answer = read_stream(*anthropic_wire_format(), anthropic_stream, piece);
    EXPECT_EQ(answer.text, "Checking 🔎");
    EXPECT_EQ(answer.reasoning, "let me");
    const auto& reply = answer.reply();
    EXPECT_EQ(reply.stop, StopReason::tool_use);
    ASSERT_EQ(reply.tool_uses.size(), 2u);
    EXPECT_EQ(reply.tool_uses[0].id, "toolu_1");
    EXPECT_EQ(reply.tool_uses[0].name, "get_weather");
    EXPECT_EQ(to_json(reply.tool_uses[0].input), R"({"city":"Paris"})");
    EXPECT_EQ(to_json(reply.tool_uses[1].input), "{}");
    EXPECT_EQ(
        to_json(reply.provider_blocks),
        R"([{"type":"thinking","thinking":"let me","signature":"EqQB"},{"type":"redacted_thinking","data":"xyz"}])");
    EXPECT_EQ(reply.usage.input_tokens, 25);
    EXPECT_EQ(reply.usage.cache_write_tokens, 7);
    EXPECT_EQ(reply.usage.cache_read_tokens, 11);
    EXPECT_EQ(reply.usage.output_tokens, 89);
  }
}

TEST(AnthropicReader, AnAnswerThatIsCutOffAnywhereIsAFailure) {
  for (std::size_t length = 0; length < anthropic_stream.find("event: message_stop"); length += 13) {
    EXPECT_TRUE(std::holds_alternative<ModelFailure>(
        read_stream(*anthropic_wire_format(), anthropic_stream.substr(0, length)).outcome))
        << length;
  }
}

TEST(AnthropicReader, MapsStopReasons) {
  const auto stop = [](std::string reason) {
    return read_stream(*anthropic_wire_format(), "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" +
                                                     reason + "\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
        .reply()
        .stop;
  };
  EXPECT_EQ(stop("end_turn"), StopReason::stop);
  EXPECT_EQ(stop("stop_sequence"), StopReason::stop);
  EXPECT_EQ(stop("max_tokens"), StopReason::length);
  EXPECT_EQ(stop("model_context_window_exceeded"), StopReason::length);
  EXPECT_EQ(stop("refusal"), StopReason::content_filter);
}

TEST(AnthropicReader, KeepsArgumentsThatAreNoObject) {
  const auto answer = read_stream(
      *anthropic_wire_format(),
      R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Pa"}}

data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"}}

data: {"type":"message_stop"}

)");
  EXPECT_EQ(answer.reply().stop, StopReason::length);
  EXPECT_EQ(answer.reply().tool_uses.at(0).arguments, R"({"city": "Pa)");
}

TEST(AnthropicReader, AnErrorInTheStreamIsAFailureWithWhatWasCounted) {
  const auto answer =
      read_stream(*anthropic_wire_format(), R"(data: {"type":"message_start","message":{"usage":{"input_tokens":25}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}

event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

)");
  EXPECT_EQ(answer.text, "Hel");
  EXPECT_EQ(answer.failure().kind, ModelFailure::Kind::unavailable);
  EXPECT_EQ(answer.failure().message, "broke off its answer: Overloaded");
  EXPECT_EQ(answer.failure().usage.input_tokens, 25);
}

TEST(AnthropicReader, GarbageIsAFailureOfTheProtocol) {
  EXPECT_EQ(read_stream(*anthropic_wire_format(), "data: {nonsense\n\n").failure().kind, ModelFailure::Kind::protocol);
}

TEST(AnthropicReader, ReplacesInvalidUnicode) {
  const auto answer = read_stream(
      *anthropic_wire_format(),
      "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\xff"
      "b\\ud83d\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
  EXPECT_EQ(answer.text,
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
}

TEST(AnthropicReader, JoinsCharactersThatWereCut) {
  const auto answer = read_stream(
      *anthropic_wire_format(),
      "data: "
      "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n"
      "data: "
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"\xe2\"}}\n\n"
      "data: "
      "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\\ud83d\"}}\n\n"
      "data: "
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"\x82\xac\"}}"
      "\n\n"
      "data: "
      "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ude00b\"}}\n\n"
      "data: {\"type\":\"message_stop\"}\n\n");
  EXPECT_EQ(answer.text, "a😀b");
  EXPECT_EQ(answer.reasoning, "€");
  EXPECT_EQ(to_json(answer.reply().provider_blocks), R"([{"type":"thinking","thinking":"€"}])");
}

TEST(AnthropicReader, TakesNoCallOfTheServicesOwnToolsForOneOfOurs) {
  const auto answer = read_stream(
      *anthropic_wire_format(),
      R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}}

data: {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Found."}}

data: {"type":"message_delta","delta":{"stop_reason":"pause_turn"}}

data: {"type":"message_stop"}

)");
  EXPECT_EQ(answer.text, "Found.");
  EXPECT_EQ(answer.reply().stop, StopReason::stop);
  EXPECT_TRUE(answer.reply().tool_uses.empty());
}

TEST(AnthropicReader, ReadsAnAnswerThatIsNotStreamed) {
  const auto answer = read_stream(
      *anthropic_wire_format(),
      R"({"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}],)"
      R"("stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}})",
      7);
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_EQ(to_json(answer.reply().tool_uses.at(0).input), R"({"a":1})");
  EXPECT_EQ(answer.reply().usage.output_tokens, 4);
}

ModelRequest anthropic_conversation() {
  ModelRequest request;
  request.model = "claude-sonnet-5-5";
  request.system = "You are kind.";
  request.temperature = 0.5;
  request.tools.push_back({"get_weather", "Weather of a city", json::object{{"type", "object"}}});
  using Role = Message::Role;
  request.messages.push_back({.role = Role::user, .text = "Weather?", .images = {{"image/png", "\x01\x02\x03"}}});
  request.messages.push_back({.role = Role::assistant,
                              .text = "Checking.",
                              .tool_uses = {{"a", "get_weather", {{"city", "Paris"}}, {}}, {"b", "now", {}, {}}},
                              .provider_blocks = {json::object{{"type", "thinking"}, {"signature", "S"}}},
                              .provider_blocks_of = "anthropic/claude-sonnet-5-5"});
  request.messages.push_back({.role = Role::tool, .text = "15C", .tool_call_id = "a"});
  request.messages.push_back({.role = Role::tool, .text = "no clock", .tool_call_id = "b", .is_error = true});
  request.messages.push_back({.role = Role::user, .text = "and now?"});
  return request;
}

TEST(AnthropicRequest, IsWrittenAsTheServiceWantsIt) {
  EXPECT_EQ(
      to_json(anthropic_wire_format()->request(anthropic_conversation())),
      R"({"model":"claude-sonnet-5-5","max_tokens":8192,"stream":true,)"
      R"("system":[{"type":"text","text":"You are kind.","cache_control":{"type":"ephemeral"}}],"temperature":0.5,)"
      R"("tools":[{"name":"get_weather","description":"Weather of a city","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],)"
      R"("messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},{"type":"text","text":"Weather?","cache_control":{"type":"ephemeral"}}]},)"
      R"({"role":"assistant","content":[{"type":"thinking","signature":"S"},{"type":"text","text":"Checking."},)"
      R"({"type":"tool_use","id":"a","name":"get_weather","input":{"city":"Paris"}},{"type":"tool_use","id":"b","name":"now","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"15C"},)"
      R"({"type":"tool_result","tool_use_id":"b","content":"no clock","is_error":true},)"
      R"({"type":"text","text":"and now?","cache_control":{"type":"ephemeral"}}]}]})");
}

TEST(AnthropicRequest, LeavesOutTheBlocksOfAnotherModel) {
  auto request = anthropic_conversation();
  request.model = "claude-haiku-5-5";
  EXPECT_EQ(to_json(anthropic_wire_format()->request(request)).find("signature"), std::string::npos);
}

TEST(AnthropicRequest, NamesCallsOfOtherServicesAsThisOneAllows) {
  ModelRequest request;
  using Role = Message::Role;
  request.messages.push_back({.role = Role::user, .text = "Weather?"});
  request.messages.push_back(
      {.role = Role::assistant, .tool_uses = {{"functions.get_weather:0", "get_weather", {}, {}}}});
  request.messages.push_back({.role = Role::tool, .text = "15C", .tool_call_id = "functions.get_weather:0"});
  const auto body = to_json(anthropic_wire_format()->request(request));
  EXPECT_NE(body.find(R"("id":"functions_get_weather_0")"), std::string::npos);
  EXPECT_NE(body.find(R"("tool_use_id":"functions_get_weather_0")"), std::string::npos);
}

TEST(AnthropicRequest, BeginsWithTheUser) {
  ModelRequest request;
  request.messages.push_back({.role = Message::Role::assistant, .text = "Good morning."});
  request.messages.push_back({.role = Message::Role::user, .text = "Hello"});
  const auto body = anthropic_wire_format()->request(request);
  EXPECT_EQ(body.at("messages").as_array().at(0).as_object().at("role"), "user");
}

TEST(AnthropicRequest, AsksForThoughtsInTheMiddleOfAnAnswerOnlyIfItHasSome) {
  auto request = anthropic_conversation();
  request.options.reasoning_effort = "high";
  const auto thinks = [&](std::string_view model) {
    request.model = model;
    request.messages[1].provider_blocks_of = "anthropic/claude-haiku-4-5";
    return anthropic_wire_format()->request(request).contains("thinking");
  };
  EXPECT_TRUE(thinks("claude-haiku-4-5"));
  EXPECT_FALSE(thinks("claude-opus-4-5"));
  EXPECT_TRUE(thinks("claude-opus-4-6"));
  EXPECT_TRUE(thinks("kimi-k3"));
  request.messages.push_back({.role = Message::Role::assistant, .text = "15C"});
  request.messages.push_back({.text = "And tomorrow?"});
  EXPECT_TRUE(thinks("claude-opus-4-5"));
}

/// The messages of a request with instructions before the answer, after it and at the end.
std::string instructed(const WireFormat& format, const std::optional<ProviderError>& refused = {}) {
  ModelRequest request;
  request.model = "claude-opus-5";
  using Role = Message::Role;
  for (const auto role : {Role::user, Role::system, Role::assistant, Role::system, Role::user, Role::system})
    request.messages.push_back({.role = role, .text = std::to_string(request.messages.size())});
  auto body = format.request(request);
  if (refused) {
    EXPECT_TRUE(format.adjust(body, *refused));
    EXPECT_FALSE(format.adjust(body, *refused));
  }
  std::string text;
  for (const auto& message : body.at("messages").as_array()) {
    text += message.at("role").as_string();
    for (const auto& block : message.at("content").as_array()) text += " " + std::string(block.at("text").as_string());
    text += '\n';
  }
  return text;
}

// https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
TEST(AnthropicRequest, KeepsInstructionsInPlaceWhereTheServiceAcceptsThem) {
  EXPECT_EQ(instructed(*anthropic_wire_format()),
            "user 0\nsystem 1\nassistant 2\nuser <system-reminder>\n3\n</system-reminder> 4\nsystem 5\n");
}

TEST(AnthropicRequest, RemindsModelsAndServicesThatRefuseInstructionsInTheMiddle) {
  const ProviderError refused{"role 'system' is not supported on this model", "invalid_request_error", 0};
  EXPECT_EQ(instructed(*anthropic_wire_format(), refused),
            "user 0\nuser <system-reminder>\n1\n</system-reminder>\nassistant 2\n"
            "user <system-reminder>\n3\n</system-reminder> 4\nuser <system-reminder>\n5\n</system-reminder>\n");
  const auto another =
      anthropic_format({.name = "x", .kind = ProviderKind::anthropic, .base_url = "https://example.org"});
  EXPECT_EQ(instructed(*another),
            "user 0 <system-reminder>\n1\n</system-reminder>\nassistant 2\n"
            "user <system-reminder>\n3\n</system-reminder> 4 <system-reminder>\n5\n</system-reminder>\n");
}

TEST(AnthropicRequest, OmitsTheTemperatureIfItIsRefused) {
  auto body = anthropic_wire_format()->request(anthropic_conversation());
  const ProviderError provider_error{"`temperature` is not supported for this model", "invalid_request_error", 0};
  EXPECT_TRUE(anthropic_wire_format()->adjust(body, provider_error));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_FALSE(anthropic_wire_format()->adjust(body, provider_error));
}

/// The members of a request with these options that concern thinking.
std::string thinking_of(std::string_view model, CallOptions options, std::int64_t limit = 8'192) {
  ModelRequest request;
  request.model = model;
  request.max_output_tokens = limit;
  request.options = std::move(options);
  const auto body = anthropic_wire_format()->request(request);
  json::object members;
  for (const auto* name : {"max_tokens", "thinking", "output_config"}) {
    if (const auto* value = body.if_contains(name)) members[name] = *value;
  }
  return to_json(members);
}

TEST(AnthropicThinking, GetsABudgetInAdditionToTheAnswer) {
  EXPECT_EQ(thinking_of("claude-sonnet-4-5", {.reasoning_effort = "high"}),
            R"({"max_tokens":28672,"thinking":{"type":"enabled","budget_tokens":24576}})");
  EXPECT_EQ(thinking_of("claude-sonnet-4-5", {.reasoning_effort = "none"}), R"({"max_tokens":8192})");
}

TEST(AnthropicThinking, StaysWithinTheLimitOfTheProgram) {
  const auto with_limit = [](std::int64_t limit) {
    return thinking_of("claude-sonnet-4-5", {.reasoning_effort = "high", .output_ceiling = limit}, limit);
  };
  EXPECT_EQ(with_limit(20'000), R"({"max_tokens":20000,"thinking":{"type":"enabled","budget_tokens":15904}})");
  EXPECT_EQ(with_limit(4'000), R"({"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000}})");
  EXPECT_EQ(with_limit(1'000), R"({"max_tokens":1000})");
}

TEST(AnthropicThinking, KeepsTheBudgetOfTheProgram) {
  EXPECT_EQ(thinking_of("claude-sonnet-4-5", {.reasoning_budget = 3'000, .output_ceiling = 3'001}, 3'001),
            R"({"max_tokens":3001,"thinking":{"type":"enabled","budget_tokens":3000}})");
}

TEST(AnthropicThinking, IsLeftToNewerModelsWithAnEffort) {
  for (const auto* model : {"claude-sonnet-5-5", "claude-opus-4-6", "claude-opus-4-7-20260401",
                            "anthropic/claude-opus-4.6", "claude-fable-5"}) {
    EXPECT_EQ(
        thinking_of(model, {.reasoning_effort = "max", .output_ceiling = 1'000}, 1'000),
        R"({"max_tokens":1000,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"max"}})")
        << model;
  }
  for (const auto* model :
       {"claude-opus-4-5-20251101", "claude-opus-4-20250514", "claude-3-7-sonnet-latest", "claude-next", "kimi-k5"}) {
    EXPECT_NE(thinking_of(model, {.reasoning_effort = "low"}).find("enabled"), std::string::npos) << model;
  }
}

TEST(AnthropicThinking, KeepsTheFormatOfTheAnswer) {
  const ResponseFormat format{.kind = ResponseFormat::Kind::json_schema, .schema = json::object{}};
  const auto members = thinking_of("claude-sonnet-5", {.response_format = format, .reasoning_effort = "minimal"});
  EXPECT_NE(members.find(R"("output_config":{"format":{"type":"json_schema","schema":{}},"effort":"low"})"),
            std::string::npos)
      << members;
}

TEST(AnthropicThinking, KeepsItsEffortIfTheModelTakesNoBudget) {
  ModelRequest request;
  request.model = "my-model";
  request.options.reasoning_effort = "medium";
  auto body = anthropic_wire_format()->request(request);
  const ProviderError provider_error{
      "\"thinking.type.enabled\" is not supported for this model. Use "
      "\"thinking.type.adaptive\" and \"output_config.effort\"",
      "invalid_request_error", 0};
  ASSERT_TRUE(anthropic_wire_format()->adjust(body, provider_error));
  EXPECT_EQ(to_json(body.at("thinking")), R"({"type":"adaptive","display":"summarized"})");
  EXPECT_EQ(to_json(body.at("output_config")), R"({"effort":"medium"})");
  EXPECT_FALSE(anthropic_wire_format()->adjust(body, provider_error));
}

TEST(AnthropicRequest, KnowsItsAddress) {
  EXPECT_EQ(anthropic_wire_format()->url("m"), "https://api.anthropic.com/v1/messages");
  EXPECT_EQ(anthropic_format({.kind = ProviderKind::anthropic, .base_url = "http://localhost:8080/v1/"})->url("m"),
            "http://localhost:8080/v1/messages");
}

}  // namespace
}  // namespace agw
