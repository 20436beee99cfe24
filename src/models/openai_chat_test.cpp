#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/wire_format.hpp"
#include "testing/wire_reading.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::read_stream;
using Kind = ModelFailure::Kind;

std::unique_ptr<WireFormat> chat_wire_format(std::string base_url = "http://127.0.0.1:8080/v1") {
  return openai_chat_format({.name = "openai", .kind = ProviderKind::openai, .base_url = std::move(base_url)});
}

/// A complete stream of the given first choices.
std::string chunks(std::initializer_list<std::string_view> choices, std::string_view end = "data: [DONE]\n\n") {
  std::string stream;
  for (const auto choice : choices) {
    stream += "data: {\"id\":\"c\",\"choices\":[";
    stream += choice;
    stream += "]}\n\n";
  }
  stream += end;
  return stream;
}

constexpr std::string_view chat_stream = R"(: OPENROUTER PROCESSING

data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}],"obfuscation":"x"}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"l🔎"},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0,"function":{"arguments":"{\"ci"}}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ty\":\"Paris\"}"}}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c","choices":[],"usage":{"prompt_tokens":82,"completion_tokens":17,"prompt_tokens_details":{"cached_tokens":30,"cache_write_tokens":12}}}

data: [DONE]

)";

TEST(ChatReader, TakesBlanksBehindTheEndMark) {
  const auto answer = read_stream(
      *chat_wire_format(), chunks({R"({"delta":{"content":"Hi"},"finish_reason":"stop"})"}, "data: [DONE] \n\n"));
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_EQ(answer.reply().stop, StopReason::stop);
}

TEST(ChatReader, KeepsWhatWasCountedWhereTheLastCountIsEmpty) {
  const auto answer =
      read_stream(*chat_wire_format(), R"(data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}

data: {"choices":[],"usage":{}}

data: [DONE]

)");
  EXPECT_EQ(answer.reply().usage.input_tokens, 10);
  EXPECT_EQ(answer.reply().usage.output_tokens, 5);
}

TEST(ChatReader, TakesWhatGroqCountsFromItsOwnPlace) {
  const auto answer =
      read_stream(*chat_wire_format(), R"(data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":10,"completion_tokens":5}}}

data: [DONE]

)");
  EXPECT_EQ(answer.reply().usage.input_tokens, 10);
  EXPECT_EQ(answer.reply().usage.output_tokens, 5);
}

TEST(ChatReader, FailsWhereGroqSaysThatItBrokeOff) {
  const auto answer =
      read_stream(*chat_wire_format(),
                  "data: {\"choices\":[{\"delta\":{}}],\"x_groq\":{\"id\":\"r\",\"error\":\"over capacity\"}}\n\n");
  EXPECT_EQ(answer.failure().message, "broke off its answer: over capacity");
}

Usage usage_in(std::string_view last_frame) {
  std::string stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: ";
  stream += last_frame;
  return read_stream(*chat_wire_format(), stream + "\n\ndata: [DONE]\n\n").reply().usage;
}

TEST(ChatReader, TakesFromTheTimingsOfLlamaCppWhatItsUsageLeavesOut) {
  constexpr std::string_view timings = R"("timings":{"cache_n":90,"prompt_n":10,"prompt_ms":5.5,"predicted_n":5})";
  const Usage usage{.input_tokens = 10, .output_tokens = 5, .cache_read_tokens = 90};
  EXPECT_EQ(usage_in(fmt::format(R"({{"choices":[],{}}})", timings)), usage);
  EXPECT_EQ(
      usage_in(fmt::format(R"({{"choices":[],"usage":{{"prompt_tokens":100,"completion_tokens":5}},{}}})", timings)),
      usage);
  EXPECT_EQ(
      usage_in(fmt::format(
          R"({{"choices":[],"usage":{{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{{"cached_tokens":90}}}},{}}})",
          timings)),
      usage);
}

TEST(ChatReader, TakesWhatDeepSeekReadFromItsCache) {
  const Usage usage{.input_tokens = 10, .output_tokens = 5, .cache_read_tokens = 90};
  EXPECT_EQ(
      usage_in(
          R"({"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":90,"prompt_cache_miss_tokens":10}})"),
      usage);
}

TEST(ChatReader, ReadsTextAndToolCallsWhereverTheStreamIsCut) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    const auto answer = read_stream(*chat_wire_format(), chat_stream, piece);
    EXPECT_EQ(answer.text, "Hél🔎");
    const auto& reply = answer.reply();
    EXPECT_EQ(reply.stop, StopReason::tool_use);
    ASSERT_EQ(reply.tool_uses.size(), 1u);
    EXPECT_EQ(reply.tool_uses[0].id, "call_1");
    EXPECT_EQ(to_json(reply.tool_uses[0].input), R"({"city":"Paris"})");
    EXPECT_EQ(reply.usage.input_tokens, 40);
    EXPECT_EQ(reply.usage.cache_read_tokens, 30);
    EXPECT_EQ(reply.usage.cache_write_tokens, 12);
    EXPECT_EQ(reply.usage.output_tokens, 17);
  }
}

TEST(ChatReader, TakesAReasonForTheEndInPlaceOfTheEndMark) {
  const auto answer =
      read_stream(*chat_wire_format(), chunks({R"({"delta":{"content":"Hi"},"finish_reason":"stop"})"}, ""));
  EXPECT_EQ(answer.reply().stop, StopReason::stop);
}

TEST(ChatReader, TakesAnEndMarkInPlaceOfAReasonWhereTheAnswerIsComplete) {
  EXPECT_EQ(
      read_stream(*chat_wire_format(), chunks({R"({"delta":{"content":"Hi"},"finish_reason":null})"})).reply().stop,
      StopReason::stop);
  const auto broken_call = chunks({R"({"delta":{"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{"}}]}})"});
  EXPECT_EQ(read_stream(*chat_wire_format(), broken_call).failure().kind, Kind::unavailable);
  EXPECT_EQ(read_stream(*chat_wire_format(), chunks({})).failure().kind, Kind::unavailable);
}

TEST(ChatReader, AnAnswerWithNeitherIsAFailure) {
  EXPECT_EQ(read_stream(*chat_wire_format(), chunks({R"({"delta":{"content":"Hi"}})"}, "")).failure().message,
            "ended its answer too early");
}

TEST(ChatReader, KeepsACompleteAnswerWhoseCountsAreCutOff) {
  const auto cut = read_stream(*chat_wire_format(), chunks({R"({"delta":{"content":"x"},"finish_reason":"stop"})"},
                                                           "data: {\"choices\":[],\"usage\":{\"promp"));
  EXPECT_EQ(cut.reply().stop, StopReason::stop);
}

TEST(ChatReader, MapsReasonsForTheEnd) {
  const auto stop = [](std::string reason) {
    return read_stream(*chat_wire_format(), chunks({R"({"delta":{"content":"x"},"finish_reason":")" + reason + "\"}"}));
  };
  EXPECT_EQ(stop("length").reply().stop, StopReason::length);
  EXPECT_EQ(stop("content_filter").reply().stop, StopReason::content_filter);
  EXPECT_EQ(stop("tool_calls").reply().stop, StopReason::stop);
  EXPECT_EQ(stop("model_length").reply().stop, StopReason::length);                   // Mistral
  EXPECT_EQ(stop("model_context_window_exceeded").reply().stop, StopReason::length);  // Z.ai
  EXPECT_EQ(stop("sensitive").reply().stop, StopReason::content_filter);              // Z.ai
  EXPECT_EQ(stop("error").failure().kind, Kind::unavailable);
  EXPECT_EQ(stop("network_error").failure().kind, Kind::unavailable);  // Z.ai
  EXPECT_EQ(stop("insufficient_system_resource").failure().message,    // DeepSeek
            "broke off its answer: the server reports: insufficient_system_resource");
}

TEST(ChatReader, ReadsReasoningUnderAnyOfItsNames) {
  const auto reasoning = [](std::string delta) {
    return read_stream(*chat_wire_format(), chunks({"{\"delta\":" + delta + ",\"finish_reason\":\"stop\"}"})).reasoning;
  };
  EXPECT_EQ(reasoning(R"({"reasoning_content":"hm"})"), "hm");
  EXPECT_EQ(reasoning(R"({"reasoning":"hm"})"), "hm");
  EXPECT_EQ(reasoning(R"({"reasoning_details":[{"type":"reasoning.text","text":"hm"}]})"), "hm");
  EXPECT_EQ(reasoning(R"({"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]})"), "hm");
}

TEST(ChatReader, DistinguishesMistralsThoughtsFromItsText) {
  const auto answer =
      read_stream(*chat_wire_format(),
                  chunks({R"({"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}})",
                          R"({"delta":{"content":[{"type":"text","text":"Hi"}]},"finish_reason":"stop"})"}));
  EXPECT_EQ(answer.reasoning, "hm");
  EXPECT_EQ(answer.text, "Hi");
}

TEST(ChatReader, KeepsTheThoughtsBeforeACallForTheNextRequest) {
  const auto blocks = [](std::string_view first, std::string_view last) {
    const auto stream = chunks({first, R"({"delta":{"reasoning_content":"me"}})", last});
    return to_json(read_stream(*chat_wire_format(), stream).reply().provider_blocks);
  };
  const auto* thought = R"({"delta":{"reasoning_content":"let "}})";
  const auto* call = R"({"delta":{"tool_calls":[{"id":"a","function":{"name":"n"}}]},"finish_reason":"tool_calls"})";
  EXPECT_EQ(blocks(thought, call), R"([{"reasoning_content":"let me"}])");
  EXPECT_EQ(blocks(R"({"delta":{"content":"<think>let </think>"}})", call), R"([{"reasoning_content":"let me"}])");
  EXPECT_EQ(blocks(R"({"delta":{"reasoning":"let "}})", call), R"([{"reasoning":"let me"}])");
  EXPECT_EQ(blocks(thought, R"({"delta":{"content":"Hi"},"finish_reason":"stop"})"), "[]");
}

TEST(ChatReader, PutsReasoningDetailsTogetherForTheNextRequest) {
  const auto answer = read_stream(
      *chat_wire_format(),
      chunks(
          {R"({"delta":{"reasoning_details":[{"type":"reasoning.text","text":"let ","index":0,"signature":null}]}})",
           R"({"delta":{"reasoning_details":[{"type":"reasoning.text","text":"me","index":0,"signature":"S"}]}})",
           R"({"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"D","index":0}]},"finish_reason":"stop"})"}));
  EXPECT_EQ(to_json(answer.reply().provider_blocks),
            R"([{"type":"reasoning.text","text":"let me","index":0,"signature":"S"},)"
            R"({"type":"reasoning.encrypted","data":"D","index":0}])");
}

TEST(ChatReader, ToleratesOddToolCalls) {
  const auto answer = read_stream(
      *chat_wire_format(),
      chunks({R"({"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}]}})",
              R"({"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"two","arguments":"{\"x\""}}]}})",
              R"({"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}})",
              R"({"delta":{"tool_calls":[{"index":5,"id":"","function":{"name":"three","arguments":{"y":2}}}]}})",
              R"({"delta":{},"finish_reason":"stop"})"}));
  const auto& uses = answer.reply().tool_uses;
  EXPECT_EQ(answer.reply().stop, StopReason::tool_use);
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[0].name, "one");
  EXPECT_EQ(uses[1].id, "b");
  EXPECT_EQ(to_json(uses[1].input), R"({"x":1})");
  EXPECT_TRUE(uses[2].id.starts_with("call_"));
  EXPECT_EQ(to_json(uses[2].input), R"({"y":2})");
}

TEST(ChatReader, JoinsCharactersThatWereCut) {
  const std::string cut_in_the_argument =
      "{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":"
      "\"{\\\"x\\\":\\\"\xf0\x9f\"}}]}}";
  const auto answer = read_stream(
      *chat_wire_format(),
      chunks(
          {R"({"delta":{"content":"a\ud83d","reasoning_content":"\ud83d"}})",
           R"({"delta":{"reasoning_content":"\udd0e"}})", R"({"delta":{"content":"\ude00b"}})", cut_in_the_argument,
           R"({"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":"{\"y\":\"\ud83d"}}]}})",
           "{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\x98\x80\\\"}\"}}]}}",
           R"({"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\ude00\"}"}}]}})",
           R"({"delta":{"content":"\ud83d"},"finish_reason":"stop"})"}));
  EXPECT_EQ(answer.text, "a😀b\xef\xbf\xbd");
  EXPECT_EQ(answer.reasoning, "🔎");
  const auto& uses = answer.reply().tool_uses;
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(to_json(uses[0].input), R"({"x":"😀"})");
  EXPECT_EQ(to_json(uses[1].input), R"({"y":"😀"})");
}

TEST(ChatReader, KeepsArgumentsAsTheyWereWrittenUnlessOthersCannotReadThem) {
  const auto answer = read_stream(
      *chat_wire_format(),
      chunks(
          {R"({"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\": \"\\ud83d\\ude00\"}"}}]}})",
           R"({"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":"{\"x\": \"\\ud83d\"}"}}]}})"}));
  const auto& uses = answer.reply().tool_uses;
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].arguments_text(), R"({"x": "\ud83d\ude00"})");
  EXPECT_EQ(uses[1].arguments_text(), "{\"x\":\"\xef\xbf\xbd\"}");
}

TEST(ChatReader, TakesACallThatComesTwiceOnce) {
  const std::string call =
      R"({"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\":1}"}}]}})";
  const auto answer =
      read_stream(*chat_wire_format(), chunks({call, call, R"({"delta":{},"finish_reason":"tool_calls"})"}));
  const auto& uses = answer.reply().tool_uses;
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(to_json(uses[0].input), R"({"x":1})");
}

TEST(ChatReader, DistinguishesWholeCallsWithoutIdsAndIndexes) {
  const auto answer = read_stream(
      *chat_wire_format(), chunks({R"({"delta":{"tool_calls":[{"function":{"name":"one","arguments":"{\"x\":1}"}}]}})",
                                   R"({"delta":{"tool_calls":[{"function":{"name":"one","arguments":"{\"x\":2}"}}]}})",
                                   R"({"delta":{},"finish_reason":"tool_calls"})"}));
  const auto& uses = answer.reply().tool_uses;
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(to_json(uses[0].input), R"({"x":1})");
  EXPECT_EQ(to_json(uses[1].input), R"({"x":2})");
}

TEST(ChatReader, KeepsACallWholeThoughEachPieceHasAnIdOfItsOwn) {
  const auto answer = read_stream(
      *chat_wire_format(),
      chunks({R"({"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}})",
              R"({"delta":{"tool_calls":[{"index":0,"id":"b","function":{"arguments":":1}"}}]}})",
              R"({"delta":{},"finish_reason":"tool_calls"})"}));
  const auto& uses = answer.reply().tool_uses;
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].id, "a");
  EXPECT_EQ(to_json(uses[0].input), R"({"x":1})");
}

TEST(ChatReader, IgnoresKeepAliveFrames) {
  EXPECT_EQ(read_stream(*chat_wire_format(), "data:\n\nevent: ping\ndata: \n\n" +
                                                 chunks({R"({"delta":{"content":"Hi"},"finish_reason":"stop"})"}))
                .text,
            "Hi");
}

TEST(ChatReader, TakesTheTextOfARefusal) {
  EXPECT_EQ(
      read_stream(*chat_wire_format(), chunks({R"({"delta":{"refusal":"I cannot."},"finish_reason":"stop"})"})).text,
      "I cannot.");
}

TEST(ChatReader, TakesThoughtsInTagsForThoughts) {
  const auto read = read_stream(
      *chat_wire_format(),
      chunks({R"({"delta":{"content":"<think>a</th"}})", R"({"delta":{"content":"ink>b"},"finish_reason":"stop"})"}));
  EXPECT_EQ(read.reasoning, "a");
  EXPECT_EQ(read.text, "b");
}

TEST(ChatReader, FindsErrorsAtAnyPlace) {
  const auto in_frame = read_stream(
      *chat_wire_format(), "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n");
  EXPECT_EQ(in_frame.failure().kind, Kind::unavailable);
  EXPECT_EQ(in_frame.failure().message, "broke off its answer: The server had an error");
  const auto named = read_stream(*chat_wire_format(),
                                 "event: error\ndata: {\"message\":\"too fast\",\"code\":\"rate_limit_exceeded\"}\n\n");
  EXPECT_EQ(named.failure().kind, Kind::rate_limited);
  const auto empty = read_stream(*chat_wire_format(),
                                 chunks({R"({"delta":{"content":"Hi"}})"}, "event: error\ndata:\n\ndata: [DONE]\n\n"));
  EXPECT_EQ(empty.failure().kind, Kind::protocol);
  const auto in_words = read_stream(*chat_wire_format(), "event: error\ndata: upstream is overloaded\n\n");
  EXPECT_EQ(in_words.failure().kind, Kind::unavailable);
  EXPECT_EQ(in_words.failure().message, "broke off its answer: upstream is overloaded");
  const auto bare = read_stream(
      *chat_wire_format(),
      chunks({R"({"delta":{"content":"Hi"}})"},
             "data: {\"object\":\"error\",\"message\":\"out of memory\",\"code\":500}\n\ndata: [DONE]\n\n"));
  EXPECT_EQ(bare.failure().kind, Kind::unavailable);
  EXPECT_EQ(bare.failure().message, "broke off its answer: out of memory");
  const auto in_choice =
      read_stream(*chat_wire_format(), R"({"choices":[{"error":{"code":402,"message":"no credits"}}]})", 5);
  EXPECT_EQ(in_choice.failure().kind, Kind::refused);
  EXPECT_EQ(in_choice.failure().status, 402);
}

TEST(ChatReader, ReadsAnAnswerThatIsNotStreamed) {
  const auto answer = read_stream(
      *chat_wire_format(),
      R"({"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}})",
      7);
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_EQ(answer.reply().usage.input_tokens, 3);
}

ModelRequest chat_conversation() {
  ModelRequest request;
  request.model = "m";
  request.system = "You are kind.";
  request.thread_id = "t1";
  request.temperature = 0.5;
  request.tools.push_back({"get_weather", "Weather of a city", json::object{{"type", "object"}}});
  using Role = Message::Role;
  request.messages.push_back({.role = Role::user, .text = "Look", .images = {{"image/png", "\x01\x02\x03"}}});
  request.messages.push_back({.role = Role::assistant,
                              .tool_uses = {{"a", "get_weather", {{"city", "Paris"}}, {}}},
                              .provider_blocks = {json::object{{"text", "hm"}}},
                              .provider_blocks_of = "openai/m"});
  request.messages.push_back({.role = Role::tool, .text = "no wind", .tool_call_id = "a", .is_error = true});
  return request;
}

TEST(ChatRequest, IsWrittenAsCompatibleServersWantIt) {
  EXPECT_EQ(
      to_json(chat_wire_format()->request(chat_conversation())),
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":8192,"temperature":0.5,)"
      R"("tools":[{"type":"function","function":{"name":"get_weather","description":"Weather of a city","parameters":{"type":"object"}}}],)"
      R"("messages":[{"role":"system","content":"You are kind."},)"
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},{"type":"text","text":"Look"}]},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}],"reasoning_details":[{"text":"hm"}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"Error: no wind"}]})");
}

TEST(ChatRequest, SendsThoughtsBackToTheModelThatHadThem) {
  auto conversation = chat_conversation();
  conversation.messages[1].provider_blocks = {json::object{{"reasoning_content", "hm"}}};
  const auto sent = [&] { return to_json(chat_wire_format()->request(conversation)); };
  EXPECT_THAT(sent(), HasSubstr(R"(,"reasoning_content":"hm"},{"role":"tool")"));
  conversation.messages[1].provider_blocks = {json::object{{"reasoning", "hm"}}};
  EXPECT_THAT(sent(), HasSubstr(R"(,"reasoning":"hm"},{"role":"tool")"));
  conversation.model = "another";
  EXPECT_THAT(sent(), Not(HasSubstr("hm")));
}

TEST(ChatRequest, KeepsInstructionsInPlaceUnlessTheyAreRefused) {
  auto conversation = chat_conversation();
  conversation.messages.push_back({.role = Message::Role::system, .text = "It is noon."});
  auto body = chat_wire_format()->request(conversation);
  EXPECT_EQ(to_json(body.at("messages").as_array().back()), R"({"role":"system","content":"It is noon."})");
  const ProviderError refused{"System message must be at the beginning.", {}, 0};
  EXPECT_TRUE(chat_wire_format()->adjust(body, refused));
  EXPECT_EQ(to_json(body.at("messages").as_array().back()),
            R"({"role":"user","content":"<system-reminder>\nIt is noon.\n</system-reminder>"})");
  EXPECT_EQ(body.at("messages").at(0).at("role"), "system");
  EXPECT_FALSE(chat_wire_format()->adjust(body, refused));
}

TEST(ChatRequest, NamesTheLimitAsOpenAiDoes) {
  const auto body = chat_wire_format("https://api.openai.com/v1")->request(chat_conversation());
  EXPECT_EQ(body.at("max_completion_tokens"), 8192);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_EQ(body.at("prompt_cache_key"), "t1");
}

TEST(ChatRequest, OmitsWhatIsRefused) {
  auto body = chat_wire_format()->request(chat_conversation());
  const auto refuse = [&](std::string message, std::string words = {}) {
    return chat_wire_format()->adjust(body, ProviderError{std::move(message), std::move(words), 0});
  };
  EXPECT_TRUE(refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."));
  EXPECT_EQ(body.at("max_completion_tokens"), 8192);
  EXPECT_TRUE(refuse("Unsupported value", "invalid_request_error unsupported_value temperature"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_TRUE(refuse("Function tools with reasoning_effort are not supported"));
  EXPECT_EQ(body.at("reasoning_effort"), "none");
  EXPECT_TRUE(refuse("Unsupported parameter: 'reasoning_effort' is not supported with this model."));
  EXPECT_FALSE(body.contains("reasoning_effort"));
  EXPECT_TRUE(refuse("The `reasoning_content` in the thinking mode must be passed back to the API."));
  auto& call = body.at("messages").at(2).as_object();
  EXPECT_EQ(call.at("reasoning_content"), "");
  EXPECT_FALSE(refuse("Missing `reasoning_content` field in the assistant message at message index 2."));
  EXPECT_TRUE(refuse("property 'reasoning_content' is unsupported"));
  EXPECT_FALSE(call.contains("reasoning_content"));
  EXPECT_TRUE(refuse("Tool call id was a but must be a-z, A-Z, 0-9, with a length of 9."));
  const auto& id = call.at("tool_calls").at(0).at("id");
  EXPECT_THAT(std::string(id.as_string()), MatchesRegex("[a-z0-9]{9}"));
  EXPECT_EQ(body.at("messages").at(3).at("tool_call_id"), id);
  EXPECT_FALSE(refuse("Tool call id was b but must be a-z, A-Z, 0-9, with a length of 9."));
  EXPECT_FALSE(refuse("The model does not exist"));
  EXPECT_FALSE(refuse("max_completion_tokens is too large: 8192"));
}

TEST(ChatRequest, IsMendedForModelsWithStricterTemplates) {
  auto conversation = chat_conversation();
  conversation.messages[0].images.clear();
  conversation.messages.insert(conversation.messages.begin(), {.text = "Hi"});
  conversation.messages.push_back({.role = Message::Role::assistant, .text = "So"});
  auto body = chat_wire_format()->request(conversation);
  const auto refuse = [&](std::string message) {
    return chat_wire_format()->adjust(body, ProviderError{std::move(message), {}, 0});
  };
  EXPECT_TRUE(refuse("After the optional system message, conversation roles must alternate user/assistant/…"));
  EXPECT_EQ(to_json(body.at("messages").at(1)), R"({"role":"user","content":"Hi\n\nLook"})");
  EXPECT_TRUE(refuse("System role not supported"));
  EXPECT_EQ(to_json(body.at("messages").at(0)), R"({"role":"user","content":"You are kind.\n\nHi\n\nLook"})");
  EXPECT_FALSE(refuse("Conversation roles must alternate user/assistant/user/assistant/..."));
  EXPECT_TRUE(refuse("Assistant response prefill is incompatible with enable_thinking."));
  EXPECT_EQ(to_json(body.at("messages").as_array().back()), R"({"role":"user","content":"Continue."})");
  EXPECT_TRUE(refuse("Function call is missing a thought_signature in functionCall parts."));
  EXPECT_EQ(to_json(body.at("messages").at(1).at("tool_calls").at(0).at("extra_content")),
            R"({"google":{"thought_signature":"skip_thought_signature_validator"}})");
  EXPECT_FALSE(refuse("Function call is missing a thought_signature in functionCall parts."));
}

TEST(ChatRequest, LeavesOutThoughtsOfAllMessagesAndAnswersWithNothingElse) {
  auto conversation = chat_conversation();
  const auto answer = [](std::string text) {
    return Message{.role = Message::Role::assistant,
                   .text = std::move(text),
                   .provider_blocks = {json::object{{"reasoning_content", "hm"}}},
                   .provider_blocks_of = "openai/m"};
  };
  conversation.messages = {{.text = "Hi"}, answer("Hello"), {.text = "Go on"}, answer("")};
  auto body = chat_wire_format()->request(conversation);
  EXPECT_EQ(body.at("messages").as_array().size(), 4u);
  EXPECT_THAT(to_json(body), HasSubstr("reasoning_content"));
  EXPECT_TRUE(chat_wire_format()->adjust(
      body, {"messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
             {},
             0}));
  EXPECT_THAT(to_json(body), Not(HasSubstr("reasoning_content")));
}

}  // namespace
}  // namespace agw
