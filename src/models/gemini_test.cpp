#include <gtest/gtest.h>

#include "models/wire_format.hpp"
#include "testing/wire_reading.hpp"

namespace agw {
namespace {

using testing::read_stream;
using Kind = ModelFailure::Kind;
using Role = Message::Role;

constexpr std::string_view gemini_stream =
    R"(data: {"candidates":[{"content":{"parts":[{"text":"let ","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":30,"cachedContentTokenCount":11}}

data: {"candidates":[{"content":{"parts":[{"text":"me","thought":true}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"parts":[{"text":"Check"}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"parts":[{"text":"ing 🔎"}],"role":"model"},"index":0}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","args":{"city":"Paris"}},"thoughtSignature":"U0lH"},{"functionCall":{"id":"c2","name":"now"}}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":30,"cachedContentTokenCount":11,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":42},"modelVersion":"gemini-3","responseId":"r"}

)";

std::unique_ptr<WireFormat> gemini_wire_format() {
  return gemini_format({.name = "gemini", .kind = ProviderKind::gemini, .api_key = "secret"});
}

TEST(GeminiReader, ReadsThoughtsTextAndToolCallsWhereverTheStreamIsCut) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    const auto answer = read_stream(*gemini_wire_format(), gemini_stream, piece);
    EXPECT_EQ(answer.text, "Checking 🔎");
    EXPECT_EQ(answer.reasoning, "let me");
    const auto& reply = answer.reply();
    EXPECT_EQ(reply.stop, StopReason::tool_use);
    ASSERT_EQ(reply.tool_uses.size(), 2u);
    EXPECT_TRUE(reply.tool_uses[0].id.starts_with("call_"));
    EXPECT_EQ(to_json(reply.tool_uses[0].input), R"({"city":"Paris"})");
    EXPECT_EQ(reply.tool_uses[1].id, "c2");
    EXPECT_EQ(to_json(reply.provider_blocks), R"([{"of":0,"thoughtSignature":"U0lH"}])");
    EXPECT_EQ(reply.usage,
              (Usage{.input_tokens = 19, .output_tokens = 12, .cache_read_tokens = 11, .reasoning_tokens = 7}));
  }
}

std::string ended_with(std::string_view reason) {
  return R"(data: {"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":")" + std::string(reason) +
         "\"}]}\n\n";
}

TEST(GeminiReader, ReportsHowItEnded) {
  const auto stop = [](std::string_view reason) {
    return read_stream(*gemini_wire_format(), ended_with(reason)).reply().stop;
  };
  EXPECT_EQ(stop("STOP"), StopReason::stop);
  EXPECT_EQ(stop("MAX_TOKENS"), StopReason::length);
  EXPECT_EQ(stop("SAFETY"), StopReason::content_filter);
  EXPECT_EQ(stop("RECITATION"), StopReason::content_filter);
  const auto malformed = read_stream(*gemini_wire_format(), ended_with("MALFORMED_FUNCTION_CALL"));
  EXPECT_EQ(malformed.failure().kind, Kind::protocol);
  const auto blocked =
      read_stream(*gemini_wire_format(), "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n");
  EXPECT_EQ(blocked.reply().stop, StopReason::content_filter);
}

TEST(GeminiReader, AStreamWithoutItsEndIsAFailure) {
  const auto cut =
      read_stream(*gemini_wire_format(), "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n\n");
  EXPECT_EQ(cut.text, "x");
  EXPECT_EQ(cut.failure().kind, Kind::unavailable);
  const auto broken = read_stream(
      *gemini_wire_format(),
      "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n");
  EXPECT_EQ(broken.failure().kind, Kind::unavailable);
  EXPECT_NE(broken.failure().message.find("overloaded"), std::string::npos);
}

TEST(GeminiReader, KeepsTheSignatureOfAText) {
  const auto answer = read_stream(
      *gemini_wire_format(),
      "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"},{\"text\":\"\",\"thoughtSignature\":\"VA\"}]},"
      "\"finishReason\":\"STOP\"}]}\n\n");
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_EQ(to_json(answer.reply().provider_blocks), R"([{"of":"text","thoughtSignature":"VA"}])");
}

ModelRequest gemini_conversation() {
  ModelRequest request;
  request.model = "gemini-flash-latest";
  request.system = "You are kind.";
  request.temperature = 0.5;
  request.tools.push_back({"get_weather", "Weather of a city", json::object{{"type", "object"}}});
  request.messages.push_back({.role = Role::user, .text = "Weather?", .images = {{"image/png", "\x01\x02\x03"}}});
  request.messages.push_back({.role = Role::assistant,
                              .text = "Checking.",
                              .tool_uses = {{"a", "get_weather", {{"city", "Paris"}}, {}}, {"b", "now", {}, {}}},
                              .provider_blocks = {json::object{{"of", 0}, {"thoughtSignature", "S"}},
                                                  json::object{{"of", "text"}, {"thoughtSignature", "T"}}},
                              .provider_blocks_of = "gemini/gemini-flash-latest"});
  request.messages.push_back({.role = Role::tool, .text = "15C", .tool_call_id = "a", .tool_name = "get_weather"});
  request.messages.push_back(
      {.role = Role::tool, .text = "no clock", .tool_call_id = "b", .tool_name = "now", .is_error = true});
  request.messages.push_back({.role = Role::user, .text = "and now?"});
  return request;
}

TEST(GeminiRequest, RemindsOfInstructionsInTheMiddle) {
  ModelRequest request;
  request.messages = {{.text = "Hi"}, {.role = Message::Role::system, .text = "It is noon."}};
  EXPECT_EQ(
      to_json(gemini_wire_format()->request(request).at("contents")),
      R"([{"role":"user","parts":[{"text":"Hi"},{"text":"<system-reminder>\nIt is noon.\n</system-reminder>"}]}])");
}

TEST(GeminiRequest, IsWrittenAsTheServiceWantsIt) {
  EXPECT_EQ(
      to_json(gemini_wire_format()->request(gemini_conversation())),
      R"({"systemInstruction":{"parts":[{"text":"You are kind."}]},)"
      R"("tools":[{"functionDeclarations":[{"name":"get_weather","description":"Weather of a city","parametersJsonSchema":{"type":"object"}}]}],)"
      R"("generationConfig":{"maxOutputTokens":8192,"temperature":0.5,"thinkingConfig":{"includeThoughts":true}},)"
      R"("contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQID"}},{"text":"Weather?"}]},)"
      R"({"role":"model","parts":[{"text":"Checking.","thoughtSignature":"T"},)"
      R"({"functionCall":{"name":"get_weather","args":{"city":"Paris"},"id":"a"},"thoughtSignature":"S"},)"
      R"({"functionCall":{"name":"now","args":{},"id":"b"}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"name":"get_weather","response":{"output":"15C"},"id":"a"}},)"
      R"({"functionResponse":{"name":"now","response":{"error":"no clock"},"id":"b"}},{"text":"and now?"}]}]})");
}

TEST(GeminiRequest, SaysThatCallsOfAnotherModelHaveNoSignature) {
  auto request = gemini_conversation();
  request.model = "gemini-pro-latest";
  const auto body = to_json(gemini_wire_format()->request(request));
  EXPECT_EQ(body.find(R"("thoughtSignature":"S")"), std::string::npos);
  EXPECT_NE(body.find(R"("id":"a"},"thoughtSignature":"skip_thought_signature_validator")"), std::string::npos);
}

TEST(GeminiRequest, BeginsWithTheUser) {
  ModelRequest request;
  request.messages.push_back({.role = Role::assistant, .text = "Good morning."});
  request.messages.push_back({.role = Role::user, .text = "Hello"});
  const auto body = gemini_wire_format()->request(request);
  EXPECT_EQ(body.at("contents").as_array().at(0).as_object().at("role"), "user");
}

TEST(GeminiRequest, OmitsWhatAModelRefuses) {
  const auto wire = gemini_wire_format();
  auto body = wire->request(gemini_conversation());
  EXPECT_TRUE(wire->adjust(body, {"Thinking is not enabled for this model", "INVALID_ARGUMENT", 400}));
  EXPECT_FALSE(body.at("generationConfig").as_object().contains("thinkingConfig"));
  EXPECT_TRUE(wire->adjust(body, {"Developer instruction is not enabled for models/gemma", "", 400}));
  EXPECT_FALSE(body.contains("systemInstruction"));
  EXPECT_EQ(body.at("contents").at(0).at("parts").at(0).at("text"), "You are kind.");
  EXPECT_TRUE(wire->adjust(body, {"Corrupted thought signature.", "", 400}));
  EXPECT_EQ(to_json(body).find(R"("thoughtSignature":"S")"), std::string::npos);
  EXPECT_FALSE(wire->adjust(body, {"something else", "", 400}));
}

TEST(GeminiRequest, KnowsItsAddress) {
  const auto url = [](std::string base_url, std::string_view model) {
    return gemini_format({.kind = ProviderKind::gemini, .base_url = std::move(base_url)})->url(model);
  };
  const std::string google = "https://generativelanguage.googleapis.com/v1beta/";
  EXPECT_EQ(url("", "gemini-x"), google + "models/gemini-x:streamGenerateContent?alt=sse");
  EXPECT_EQ(url("", "tunedModels/mine"), google + "tunedModels/mine:streamGenerateContent?alt=sse");
  EXPECT_EQ(url("http://127.0.0.1:1/v1?a=b", "m"), "http://127.0.0.1:1/v1/models/m:streamGenerateContent?a=b&alt=sse");
}

}  // namespace
}  // namespace agw
