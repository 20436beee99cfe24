#include "features/client_api/anthropic_messages.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/client_errors.hpp"
#include "api/error.hpp"
#include "models/frames.hpp"

namespace agw {

namespace {

json::object parsed(std::string_view text) { return parse_json(text).value().as_object(); }

/// A request with the required members and `members`.
json::object body_with(std::string_view members) {
  auto body = parsed(R"({"model": "stub/one", "max_tokens": 4096, "messages": [{"role": "user", "content": "Hi"}]})");
  for (const auto& [name, value] : parsed(members)) body[name] = value;
  return body;
}

std::string refusal_of_body(const json::object& body) {
  try {
    read_anthropic_messages(body);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.error();
  }
  return "accepted";
}

std::string refusal_of_content(std::string_view content) {
  auto body = body_with("{}");
  body["messages"] = json::array{json::object{{"role", "user"}, {"content", parse_json(content).value()}}};
  return refusal_of_body(body);
}

ClientAnswer answer_of(std::string text) {
  return {.id = "1f", .model = "stub/one", .created = 1, .text = std::move(text)};
}

struct Event {
  std::string name;
  json::object data;
};

std::vector<Event> events_of(std::string_view stream) {
  std::vector<Event> events;
  const auto splitter = split_events([&](const Frame& frame) {
    events.push_back({std::string(frame.event), parsed(frame.data)});
    EXPECT_EQ(events.back().data["type"], json::value(events.back().name));
  });
  splitter->feed(stream);
  return events;
}

/// The events without their content: `start 0 text`, `delta 0 text_delta`, `stop 0`.
std::vector<std::string> lines_of(std::string_view stream) {
  std::vector<std::string> outline;
  for (auto& [name, data] : events_of(stream)) {
    const auto index = data.contains("index") ? " " + to_json(data["index"]) : std::string();
    if (name == "content_block_start") {
      outline.push_back("start" + index + " " + std::string(data["content_block"].at("type").as_string()));
    } else if (name == "content_block_delta") {
      outline.push_back("delta" + index + " " + std::string(data["delta"].at("type").as_string()));
    } else if (name == "content_block_stop") {
      outline.push_back("stop" + index);
    } else {
      outline.push_back(name);
    }
  }
  return outline;
}

/// A writer and the stream that it has written.
struct Written {
  explicit Written(ThinkingDisplay thinking = ThinkingDisplay::shown) : writer(anthropic_message_writer(thinking)) {
    stream = writer->begin(answer);
  }

  void add(Delta delta) { stream += writer->delta(answer, delta); }
  std::vector<std::string> end() {
    stream += writer->end(answer);
    auto outline = lines_of(stream);
    EXPECT_EQ(outline.front(), "message_start");
    EXPECT_EQ(outline.at(1), "ping");
    EXPECT_EQ(outline.at(outline.size() - 2), "message_delta");
    EXPECT_EQ(outline.back(), "message_stop");
    return {outline.begin() + 2, outline.end() - 2};
  }

  ClientAnswer answer = answer_of("");
  std::unique_ptr<AnswerWriter> writer;
  std::string stream;
};

Delta text(std::string piece) { return {Delta::Kind::text, std::move(piece)}; }
Delta thought(std::string piece) { return {Delta::Kind::reasoning, std::move(piece)}; }
Delta call(std::size_t number, std::string id) { return {Delta::Kind::call, {}, number, std::move(id), "look"}; }
Delta arguments(std::size_t number, std::string piece) { return {Delta::Kind::arguments, std::move(piece), number}; }
Delta block(std::string_view json) { return {Delta::Kind::provider_block, std::string(json)}; }

/// The assistant's message with this block, as read when the program sends it back.
Message read_back(json::object content_block) {
  auto body = body_with("{}");
  body["messages"] =
      json::array{json::object{{"role", "assistant"}, {"content", json::array{std::move(content_block)}}}};
  return read_anthropic_messages(body).request.call.messages.at(0);
}

using Outline = std::vector<std::string>;

}  // namespace

TEST(AnthropicMessages, AreRead) {
  const auto [request, thinking] = read_anthropic_messages(parsed(R"({
    "model": "stub/one", "max_tokens": 2000, "stream": true, "temperature": 0.5, "top_p": 0.9, "top_k": 5,
    "stop_sequences": ["END"], "metadata": {"user_id": "me", "thread_id": "t-1"},
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}],
    "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": true},
    "messages": [
      {"role": "user", "content": "Look."},
      {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "Hm", "signature": "sig"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "it"}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [{"type": "text", "text": "no"}]},
        {"type": "text", "text": "And now?"}]}]})"));
  EXPECT_EQ(request.model, "stub/one");
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(request.thread_id, "t-1");
  EXPECT_EQ(thinking, ThinkingDisplay::shown);
  const auto& call = request.call;
  EXPECT_EQ(call.system, "Be brief.");
  EXPECT_EQ(call.max_output_tokens, 2000);
  EXPECT_EQ(call.temperature, 0.5);
  EXPECT_EQ(call.options.reasoning_budget, 1024);
  EXPECT_EQ(call.options.stop, std::vector<std::string>{"END"});
  EXPECT_EQ(call.options.tool_choice.value().name, "look");
  EXPECT_EQ(call.options.parallel_tool_calls, false);
  ASSERT_EQ(call.messages.size(), 4);
  EXPECT_EQ(call.messages[1].text, "I look.");
  EXPECT_EQ(call.messages[1].tool_uses.at(0).input.at("at"), json::value("it"));
  EXPECT_EQ(call.messages[1].provider_blocks.at(0).at("signature"), json::value("sig"));
  EXPECT_EQ(call.messages[2].role, Message::Role::tool);
  EXPECT_EQ(call.messages[2].tool_name, "look");
  EXPECT_TRUE(call.messages[2].is_error);
  EXPECT_EQ(call.messages[3].text, "And now?");
}

// https://github.com/anthropics/claude-code/issues/68900
TEST(AnthropicMessages, LeaveOutWhatIsForTheVendorsBilling) {
  const auto system = [](std::string_view value) {
    return read_anthropic_messages(body_with(fmt::format(R"({{"system": {}}})", value))).request.call.system;
  };
  EXPECT_EQ(system(R"([{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1; cch=71fea;"},
                       {"type": "text", "text": "You are an agent."}])"),
            "You are an agent.");
  EXPECT_EQ(system(R"("x-anthropic-billing-header: cch=71fea;\nYou are an agent.")"), "You are an agent.");
  EXPECT_EQ(system(R"("x-anthropic-billing-header: cch=71fea;")"), "");
  EXPECT_EQ(system(R"("Never print x-anthropic-billing-header: it is secret.")"),
            "Never print x-anthropic-billing-header: it is secret.");
}

TEST(AnthropicMessages, ShowNoThoughtsUnlessAsked) {
  EXPECT_EQ(read_anthropic_messages(body_with("{}")).thinking, ThinkingDisplay::none);
  EXPECT_EQ(read_anthropic_messages(body_with(R"({"thinking": {"type": "disabled"}})")).thinking,
            ThinkingDisplay::none);
  const auto omitted = body_with(R"({"thinking": {"type": "adaptive", "display": "omitted"},
                                     "output_config": {"effort": "low"}})");
  EXPECT_EQ(read_anthropic_messages(omitted).thinking, ThinkingDisplay::omitted);
  EXPECT_EQ(read_anthropic_messages(omitted).request.call.options.reasoning_effort, "low");
  // Claude Code asks for updates when another program reads its answers.
  const auto updates = body_with(R"({"thinking": {"type": "adaptive", "display": "updates"}})");
  EXPECT_EQ(read_anthropic_messages(updates).thinking, ThinkingDisplay::shown);
}

TEST(AnthropicMessages, TakeTheEffortOfTheLatestSystemMessage) {
  const auto effort = [](std::string_view messages) {
    const auto body = body_with(fmt::format(R"({{"output_config": {{"effort": "low"}}, "messages": {}}})", messages));
    return read_anthropic_messages(body).request.call.options.reasoning_effort;
  };
  EXPECT_EQ(effort(R"([{"role": "user", "content": "Hi"}, {"role": "system", "content": "Be short."}])"), "low");
  EXPECT_EQ(effort(R"([{"role": "user", "content": "Hi"},
                       {"role": "system", "content": "Be short.", "output_config": {"effort": "medium"}},
                       {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Think."},
                       {"role": "system", "output_config": {"effort": "max"}}])"),
            "max");
}

TEST(AnthropicMessages, NameMissingMembers) {
  auto body = body_with("{}");
  body.erase("max_tokens");
  EXPECT_EQ(refusal_of_body(body), "max_tokens: is missing");
  EXPECT_EQ(refusal_of_body({}), "model: must be a string that is not empty");
  EXPECT_EQ(refusal_of_body(body_with(R"({"messages": []})")), "messages: must be an array with at least one message");
  EXPECT_EQ(refusal_of_body(body_with(R"({"messages": [{"role": "user"}]})")), "messages.0.content: is missing");
  EXPECT_EQ(refusal_of_body(body_with(R"({"tools": [{"name": "a"}]})")), "tools.0.input_schema: is missing");
}

TEST(AnthropicMessages, NameUnsupportedMembers) {
  EXPECT_EQ(refusal_of_body(body_with(R"({"tools": [{"type": "web_search_20250305", "name": "web_search"}]})")),
            "tools.0.type: web_search_20250305 is a tool of Anthropic's own: leave it out");
  EXPECT_EQ(refusal_of_body(body_with(R"({"speed": "fast"})")), "speed: must be standard");
  EXPECT_EQ(refusal_of_body(body_with(R"({"n": 5})")), "n: is not known here: leave it out");
  EXPECT_EQ(refusal_of_body(body_with(R"({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}})")),
            "context_management.edits.0.type: must be clear_thinking_20251015");
  EXPECT_EQ(refusal_of_content(R"([{"type": "document", "source": {"type": "url", "url": "https://a.example"}}])"),
            "messages.0.content.0.source.type: url is not possible here: must be base64, text or content");
  for (const auto* mime : {"application/pdf", "text/plain"}) {
    EXPECT_EQ(
        refusal_of_content(fmt::format(
            R"([{{"type": "document", "source": {{"type": "base64", "media_type": "{}", "data": "AA=="}}}}])", mime)),
        "messages.0.content.0.source.data: is no PDF");
  }
}

TEST(AnthropicMessages, NameTheInvalidBlock) {
  EXPECT_EQ(refusal_of_content("7"), "messages.0.content: must be a string or an array of blocks");
  EXPECT_EQ(refusal_of_content(R"([{"type": "text", "text": "a"}, 7])"), "messages.0.content.1: must be an object");
  EXPECT_EQ(refusal_of_content(R"([{"type": "tool_result", "tool_use_id": "x"}])"),
            "messages.0.content.0.tool_use_id: no message before it has a tool_use block with this id");
  EXPECT_EQ(refusal_of_content(
                R"([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}}])"),
            "messages.0.content.0.source.data: is no base64");
}

TEST(AnthropicMessages, KeepThePlaceOfAPictureByUrl) {
  auto body = body_with("{}");
  body["messages"] = parse_json(R"([{"role": "user", "content": [
      {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}]}])")
                         .value();
  const auto read = read_anthropic_messages(body);
  ASSERT_EQ(read.request.pictures.size(), 1);
  EXPECT_EQ(read.request.pictures[0].param, "messages.0.content.0.source.url");
  EXPECT_EQ(read.request.call.messages.at(0).images.size(), 1);
}

TEST(AnthropicWriter, WritesTheEventsOfAnAnswer) {
  Written written;
  written.add(thought("Hm"));
  written.add(block(R"({"type": "thinking", "thinking": "Hm", "signature": "sig"})"));
  written.add(text("I "));
  written.add(text("look."));
  written.add(call(0, "toolu_1"));
  written.add(arguments(0, R"({"at": )"));
  written.add(arguments(0, R"("it"})"));
  written.answer.stop = StopReason::tool_use;
  written.answer.usage = {.input_tokens = 9, .output_tokens = 4, .cache_read_tokens = 3, .cache_write_tokens = 2};
  written.answer.provider_blocks = {json::object{{"type", "thinking"}}};  // Already written.
  EXPECT_EQ(written.end(),
            (Outline{"start 0 thinking", "delta 0 thinking_delta", "delta 0 signature_delta", "stop 0", "start 1 text",
                     "delta 1 text_delta", "delta 1 text_delta", "stop 1", "start 2 tool_use",
                     "delta 2 input_json_delta", "delta 2 input_json_delta", "stop 2"}));
  const auto events = events_of(written.stream);
  EXPECT_EQ(events.front().data.at("message").at("id"), json::value("msg_1f"));
  const auto& end = events.at(events.size() - 2).data;
  EXPECT_EQ(end.at("delta").at("stop_reason"), json::value("tool_use"));
  EXPECT_EQ(end.at("usage").at("input_tokens"), json::value(9));
  EXPECT_EQ(end.at("usage").at("cache_read_input_tokens"), json::value(3));
  EXPECT_EQ(end.at("usage").at("cache_creation_input_tokens"), json::value(2));
}

TEST(AnthropicWriter, WritesCallsWhosePiecesArriveInTurnOneAfterTheOther) {
  Written written;
  written.add(call(0, "a"));
  written.add(arguments(0, R"({"x")"));
  written.add(call(1, "b"));
  written.add(arguments(1, "{"));
  written.add(arguments(0, ":1}"));
  written.add(arguments(1, "}"));
  written.add(text("Done"));
  EXPECT_EQ(written.end(),
            (Outline{"start 0 tool_use", "delta 0 input_json_delta", "delta 0 input_json_delta", "stop 0",
                     "start 1 tool_use", "delta 1 input_json_delta", "delta 1 input_json_delta", "stop 1",
                     "start 2 text", "delta 2 text_delta", "stop 2"}));
}

TEST(AnthropicWriter, EndsCallsWhoseArgumentsAreNoJson) {
  Written written;
  written.add(call(0, "a"));
  written.add(arguments(0, "{"));
  written.add(call(1, "b"));
  written.add(arguments(1, "["));
  written.add(call(2, "c"));
  EXPECT_EQ(written.end(), (Outline{"start 0 tool_use", "delta 0 input_json_delta", "stop 0", "start 1 tool_use",
                                    "delta 1 input_json_delta", "stop 1", "start 2 tool_use", "stop 2"}));
}

TEST(AnthropicWriter, LeavesThoughtsOutOnRequest) {
  Written none(ThinkingDisplay::none);
  none.add(thought("Hm"));
  none.add(text("Yes"));
  EXPECT_EQ(none.end(), (Outline{"start 0 text", "delta 0 text_delta", "stop 0"}));
  Written omitted(ThinkingDisplay::omitted);
  omitted.add(thought("Hm"));
  omitted.add(text("Yes"));
  EXPECT_EQ(omitted.end(), (Outline{"start 0 text", "delta 0 text_delta", "stop 0"}));
  EXPECT_EQ(omitted.stream.find("Hm"), std::string::npos);
}

TEST(AnthropicWriter, HidesBlocksOfOtherServicesInASignatureThatIsReadBack) {
  Written written;
  written.add(thought("Hm"));
  written.add(block(R"({"type": "reasoning", "id": "rs_1", "encrypted_content": "x"})"));
  written.add(text("Yes"));
  EXPECT_EQ(written.end(), (Outline{"start 0 thinking", "delta 0 thinking_delta", "delta 0 signature_delta", "stop 0",
                                    "start 1 text", "delta 1 text_delta", "stop 1"}));
  const auto events = events_of(written.stream);
  const auto& signature = events.at(4).data.at("delta").at("signature");
  const auto read = read_back({{"type", "thinking"}, {"thinking", "Hm"}, {"signature", signature}});
  EXPECT_EQ(read.provider_blocks_of, "stub/one");
  EXPECT_EQ(read.provider_blocks.at(0).at("id"), json::value("rs_1"));
}

TEST(AnthropicWriter, SendsNoThinkingWithoutTextForWhatAServiceSaysAtTheEnd) {
  Written written;
  written.add(thought("Hm"));
  written.add(text("Yes"));
  written.answer.provider_blocks = {json::object{{"thinking", "Hm"}}, json::object{{"of", 0}}};
  EXPECT_EQ(written.end(), (Outline{"start 0 thinking", "delta 0 thinking_delta", "stop 0", "start 1 text",
                                    "delta 1 text_delta", "stop 1", "start 2 redacted_thinking", "stop 2"}));
  const auto events = events_of(written.stream);
  const auto read = read_back(events.at(events.size() - 4).data.at("content_block").as_object());
  EXPECT_EQ(read.provider_blocks_of, "stub/one");
  EXPECT_EQ(to_json(read.provider_blocks), R"([{"thinking":"Hm"},{"of":0}])");
}

TEST(AnthropicWriter, WritesNoThinkingWithoutTextIntoAWholeMessage) {
  auto answer = answer_of("Yes");
  answer.provider_blocks = {json::object{{"of", "text"}, {"thoughtSignature", "S"}}};
  const auto message = parsed(anthropic_message_writer(ThinkingDisplay::shown)->body(answer));
  const auto& content = message.at("content").as_array();
  ASSERT_EQ(content.size(), 2);
  EXPECT_EQ(content[0].at("type"), json::value("redacted_thinking"));
  EXPECT_EQ(to_json(read_back(content[0].as_object()).provider_blocks), to_json(answer.provider_blocks));
}

TEST(AnthropicWriter, WritesAWholeMessage) {
  auto answer = answer_of("I look.");
  answer.reasoning = "Hm";
  answer.tool_uses = {{.id = "toolu_1", .name = "look", .input = {{"at", "it"}}}};
  answer.stop = StopReason::tool_use;
  const auto message = parsed(anthropic_message_writer(ThinkingDisplay::shown)->body(answer));
  const auto& content = message.at("content").as_array();
  ASSERT_EQ(content.size(), 3);
  EXPECT_EQ(content[0].at("thinking"), json::value("Hm"));
  EXPECT_EQ(content[1].at("text"), json::value("I look."));
  EXPECT_EQ(content[2].at("input").at("at"), json::value("it"));
  EXPECT_EQ(message.at("stop_reason"), json::value("tool_use"));
  EXPECT_EQ(message.at("stop_sequence"), json::value());
}

TEST(AnthropicWriter, SaysWhichStopSequenceEndedTheAnswer) {
  auto answer = answer_of("one");
  answer.stop_sequence = "END";
  const auto message = parsed(anthropic_message_writer(ThinkingDisplay::none)->body(answer));
  EXPECT_EQ(message.at("stop_reason"), json::value("stop_sequence"));
  EXPECT_EQ(message.at("stop_sequence"), json::value("END"));
}

TEST(AnthropicWriter, SendsPingsOnlyWithinAMessage) {
  const auto writer = anthropic_message_writer(ThinkingDisplay::none);
  EXPECT_EQ(writer->keep_alive(), ": keep-alive\n\n");
  writer->begin(answer_of(""));
  EXPECT_EQ(writer->keep_alive(), "event: ping\ndata: {\"type\":\"ping\"}\n\n");
}

}  // namespace agw
