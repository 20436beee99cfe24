#include <gtest/gtest.h>

#include "models/wire_format.hpp"
#include "testing/wire_reading.hpp"

namespace agw {
namespace {

using testing::read_stream;
using Kind = ModelFailure::Kind;

std::unique_ptr<WireFormat> responses_wire_format() {
  return openai_responses_format({.name = "openai", .kind = ProviderKind::openai, .api_key = "secret"});
}

constexpr std::string_view responses_stream = R"(event: response.created
data: {"type":"response.created","response":{"id":"resp_1","status":"in_progress"},"sequence_number":0}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"aha"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"delta":"Hé🔎"}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"city\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"\"Paris\"}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"city\":\"Paris\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}

event: response.completed
data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"},{"type":"message","content":[{"type":"output_text","text":"Hé🔎"}]},{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Paris\"}"}],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":20},"output_tokens":9}}}

)";

TEST(ResponsesReader, ReadsReasoningTextAndToolCallsWhereverTheStreamIsCut) {
  for (std::size_t piece = 1; piece < 200; ++piece) {
    const auto answer = read_stream(*responses_wire_format(), responses_stream, piece);
    EXPECT_EQ(answer.text, "Hé🔎");
    EXPECT_EQ(answer.reasoning, "hm\n\naha");
    const auto& reply = answer.reply();
    EXPECT_EQ(reply.stop, StopReason::tool_use);
    ASSERT_EQ(reply.tool_uses.size(), 1u);
    EXPECT_EQ(reply.tool_uses[0].id, "call_1");
    EXPECT_EQ(to_json(reply.tool_uses[0].input), R"({"city":"Paris"})");
    EXPECT_EQ(to_json(reply.provider_blocks),
              R"([{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E"}])");
    EXPECT_EQ(reply.usage.input_tokens, 30);
    EXPECT_EQ(reply.usage.cache_read_tokens, 20);
    EXPECT_EQ(reply.usage.output_tokens, 9);
  }
}

TEST(ResponsesReader, TakesACallAndAThoughtOnceWhateverTheirPlacesAtTheEnd) {
  const auto answer =
      read_stream(*responses_wire_format(),
                  R"(data: {"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","id":"rs_1"}}

data: {"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":""}}

data: {"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}

data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"reasoning","id":"rs_1"},{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Paris\"}"}]}}

)");
  const auto& reply = answer.reply();
  ASSERT_EQ(reply.tool_uses.size(), 1u);
  EXPECT_EQ(reply.tool_uses[0].id, "call_1");
  EXPECT_EQ(to_json(reply.tool_uses[0].input), R"({"city":"Paris"})");
  EXPECT_EQ(reply.provider_blocks.size(), 1u);
}

TEST(ResponsesReader, MapsHowItEnded) {
  const auto incomplete = [](std::string reason) {
    return read_stream(*responses_wire_format(),
                       "data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\","
                       "\"incomplete_details\":{\"reason\":\"" +
                           reason + "\"}}}\n\n")
        .reply()
        .stop;
  };
  EXPECT_EQ(incomplete("max_output_tokens"), StopReason::length);
  EXPECT_EQ(incomplete("content_filter"), StopReason::content_filter);
}

TEST(ResponsesReader, ReportsFailures) {
  const auto failed = read_stream(
      *responses_wire_format(),
      R"(data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}

)");
  EXPECT_EQ(failed.failure().kind, Kind::unavailable);
  EXPECT_EQ(failed.failure().message, "broke off its answer: oops");
  const auto limited = read_stream(
      *responses_wire_format(),
      R"(data: {"type":"error","code":"rate_limit_exceeded","message":"slower","param":null,"sequence_number":3}

)");
  EXPECT_EQ(limited.failure().kind, Kind::rate_limited);
  EXPECT_EQ(read_stream(*responses_wire_format(),
                        responses_stream.substr(0, responses_stream.find("event: response.completed")))
                .failure()
                .kind,
            Kind::unavailable);
}

TEST(ResponsesReader, ReadsAnAnswerThatIsNotStreamed) {
  const auto answer = read_stream(
      *responses_wire_format(),
      R"({"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]})",
      9);
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_EQ(answer.reply().stop, StopReason::stop);
}

TEST(ResponsesReader, ReadsARefusalAndAnUnfinishedAnswerThatAreNotStreamed) {
  const auto refused = read_stream(
      *responses_wire_format(),
      R"({"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}]})",
      9);
  EXPECT_EQ(refused.text, "I cannot.");
  const auto unfinished =
      read_stream(*responses_wire_format(),
                  R"({"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},)"
                  R"("output":[{"type":"message","content":[{"type":"output_text","text":"It was a"}]}]})",
                  9);
  EXPECT_EQ(unfinished.text, "It was a");
  EXPECT_EQ(unfinished.reply().stop, StopReason::length);
}

TEST(ResponsesReader, TakesTextOnceFromWhereItComesFirst) {
  constexpr std::string_view delta = R"(data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}

)";
  constexpr std::string_view part = R"(data: {"type":"response.output_text.done","output_index":0,"text":"Hi"}

)";
  constexpr std::string_view item =
      R"(data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"}]}}

)";
  constexpr std::string_view end =
      R"(data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}}

)";
  for (const bool has_delta : {true, false}) {
    for (const bool has_part : {true, false}) {
      for (const bool has_item : {true, false}) {
        std::string sent;
        if (has_delta) sent += delta;
        if (has_part) sent += part;
        if (has_item) sent += item;
        EXPECT_EQ(read_stream(*responses_wire_format(), sent + std::string(end)).text, "Hi") << sent;
      }
    }
  }
}

TEST(ResponsesReader, MessagesAreParagraphs) {
  EXPECT_EQ(read_stream(*responses_wire_format(),
                        R"(data: {"type":"response.output_text.delta","output_index":0,"delta":"I look"}

data: {"type":"response.output_text.delta","output_index":0,"delta":" it up."}

data: {"type":"response.output_text.delta","output_index":2,"delta":"It is 5."}

data: {"type":"response.completed","response":{"status":"completed"}}

)")
                .text,
            "I look it up.\n\nIt is 5.");
  EXPECT_EQ(
      read_stream(
          *responses_wire_format(),
          R"({"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"I "},{"type":"output_text","text":"look."}]},)"
          R"({"type":"message","content":[{"type":"output_text","text":"It is 5."}]}]})",
          9)
          .text,
      "I look.\n\nIt is 5.");
}

TEST(ResponsesReader, JoinsCharactersThatWereCut) {
  const auto answer =
      read_stream(*responses_wire_format(), R"(data: {"type":"response.output_text.delta","delta":"a\ud83d"}

data: {"type":"response.output_text.delta","delta":"\ude00"}

data: {"type":"response.completed","response":{"status":"completed"}}

)");
  EXPECT_EQ(answer.text, "a😀");
}

TEST(ResponsesRequest, IsWrittenWithoutStateOnTheirSide) {
  ModelRequest request;
  request.model = "gpt-6.2-sol";
  request.system = "You are kind.";
  request.thread_id = "t1";
  request.tools.push_back({"get_weather", "Weather of a city", json::object{{"type", "object"}}});
  using Role = Message::Role;
  request.messages.push_back({.role = Role::user, .text = "Look", .images = {{"image/png", "\x01\x02\x03"}}});
  request.messages.push_back({.role = Role::assistant,
                              .text = "Checking.",
                              .tool_uses = {{"a", "get_weather", {{"city", "Paris"}}, {}}},
                              .provider_blocks = {json::object{{"type", "reasoning"}, {"id", "rs_1"}}},
                              .provider_blocks_of = "openai/gpt-6.2-sol"});
  request.messages.push_back({.role = Role::tool, .text = "15C", .tool_call_id = "a"});
  EXPECT_EQ(
      to_json(responses_wire_format()->request(request)),
      R"({"model":"gpt-6.2-sol","stream":true,"store":false,"max_output_tokens":8192,"instructions":"You are kind.",)"
      R"("prompt_cache_key":"t1","include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},)"
      R"("tools":[{"type":"function","name":"get_weather","description":"Weather of a city","parameters":{"type":"object"},"strict":false}],)"
      R"("input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AQID"},{"type":"input_text","text":"Look"}]},)"
      R"({"type":"reasoning","id":"rs_1"},{"role":"assistant","content":"Checking."},)"
      R"({"type":"function_call","call_id":"a","name":"get_weather","arguments":"{\"city\":\"Paris\"}"},)"
      R"({"type":"function_call_output","call_id":"a","output":"15C"}]})");
}

TEST(ResponsesRequest, KeepsInstructionsInPlaceUnlessTheyAreRefused) {
  ModelRequest request;
  request.model = "gpt-6.2-sol";
  request.messages = {{.text = "Hi"}, {.role = Message::Role::system, .text = "It is noon."}};
  auto body = responses_wire_format()->request(request);
  EXPECT_EQ(to_json(body.at("input")),
            R"([{"role":"user","content":"Hi"},{"role":"developer","content":"It is noon."}])");
  EXPECT_TRUE(responses_wire_format()->adjust(body, {"Unsupported role: developer", {}, 400}));
  EXPECT_EQ(to_json(body.at("input").at(1)),
            R"({"role":"user","content":"<system-reminder>\nIt is noon.\n</system-reminder>"})");
}

TEST(ResponsesRequest, AsksOnlyModelsThatReasonForTheirReasoning) {
  ModelRequest request;
  request.model = "gpt-4o";
  const auto body = responses_wire_format()->request(request);
  EXPECT_FALSE(body.contains("reasoning"));
  EXPECT_FALSE(body.contains("include"));
}

TEST(ResponsesRequest, OmitsWhatIsRefused) {
  ModelRequest request;
  request.model = "o3";
  request.temperature = 1;
  auto body = responses_wire_format()->request(request);
  const auto refuse = [&](std::string message) {
    return responses_wire_format()->adjust(body, ProviderError{std::move(message), {}, 0});
  };
  EXPECT_TRUE(refuse("Unsupported parameter: 'temperature' is not supported with this model."));
  EXPECT_TRUE(refuse("Your organization must be verified to generate reasoning summaries."));
  EXPECT_TRUE(refuse("Encrypted content is not supported with this model."));
  EXPECT_FALSE(body.contains("temperature") || body.contains("reasoning") || body.contains("include"));
  EXPECT_FALSE(refuse("Encrypted content is not supported with this model."));
}

TEST(ResponsesRequest, SendsNoEffortToAModelThatCannotReason) {
  ModelRequest request;
  request.model = "gpt-4o";
  request.options.reasoning_effort = "none";
  const ProviderError refusal{"Unsupported parameter: 'reasoning.effort' is not supported with this model.", {}, 0};
  auto body = responses_wire_format()->request(request);
  EXPECT_TRUE(responses_wire_format()->adjust(body, refusal));
  EXPECT_FALSE(body.contains("reasoning"));
  request.options.reasoning_effort = "low";
  body = responses_wire_format()->request(request);
  EXPECT_FALSE(responses_wire_format()->adjust(body, refusal));
}

}  // namespace
}  // namespace agw
