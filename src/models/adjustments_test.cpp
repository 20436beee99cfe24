#include "models/adjustments.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::int64_t fitted(std::int64_t limit, std::string_view refusal) {
  json::object request{{"max_tokens", limit}};
  EXPECT_EQ(fit_limit(request, refusal), request.at("max_tokens") != limit) << refusal;
  return request.at("max_tokens").get_int64();
}

json::array read_messages(std::string_view text) { return parse_json(text).value().get_array(); }

TEST(FitLimit, LeavesTheAnswerWhatTheInputLeaves) {
  EXPECT_EQ(fitted(32'000,
                   "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context "
                   "length is 32768 tokens and your request has 17459 input tokens (32000 > 32768 - 17459). "
                   "(parameter=max_tokens, value=32000)"),
            15'309);
  EXPECT_EQ(fitted(32'000,
                   "This model's maximum context length is 40960 tokens. However, you requested 32000 output "
                   "tokens and your prompt contains at least 16000 input tokens, for a total of at least 48000 "
                   "tokens."),
            24'960);
  EXPECT_EQ(fitted(32'000,
                   "This model's maximum context length is 131072 tokens. However, you requested 133000 tokens "
                   "(101000 in the messages, 32000 in the completion)."),
            30'072);
  EXPECT_EQ(fitted(32'000,
                   "Requested token count exceeds the model's maximum context length of 262144 tokens. You "
                   "requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens "
                   "for the completion."),
            31'682);
  EXPECT_EQ(fitted(32'000,
                   "This endpoint's maximum context length is 131072 tokens. However, you requested about "
                   "150000 tokens (100000 of text input, 18000 of tool input, 32000 in the output)."),
            13'072);
  EXPECT_EQ(fitted(21'333,
                   "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease "
                   "input length or `max_tokens` and try again"),
            11'760);
  EXPECT_EQ(fitted(5'000,
                   "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 4096 `inputs` tokens and 5000 "
                   "`max_new_tokens`"),
            4'097);
}

TEST(FitLimit, IsThatOfTheModel) {
  EXPECT_EQ(fitted(32'000,
                   "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, "
                   "whereas you provided 32000."),
            16'384);
  EXPECT_EQ(fitted(64'000,
                   "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for "
                   "claude-3-5-haiku-20241022"),
            8'192);
  EXPECT_EQ(fitted(32'000, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8'192);
  EXPECT_EQ(fitted(32'000,
                   "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is "
                   "less than the `context_window` for this model"),
            8'192);
  EXPECT_EQ(fitted(1,
                   "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 "
                   "instead."),
            16);
}

TEST(FitLimit, StaysIfAnotherWouldNotHelp) {
  for (const auto* refusal :
       {"This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens.",
        "max_tokens is too large: 32000. This model's maximum context length is 32768 tokens and your request has "
        "32000 input tokens (32000 > 32768 - 32000).",
        "input length and `max_tokens` exceed context limit: 199500 + 32000 > 200000",
        "prompt is too long: 208310 tokens > 200000 maximum", "Use 'max_completion_tokens' instead.",
        "Invalid schema for function in /v1/chat/completions: tools[3]", "max_tokens must be at most 64000",
        "max_tokens of tool 3 is unknown"}) {
    EXPECT_EQ(fitted(32'000, refusal), 32'000);
  }
  json::object request{{"model", "m"}};
  EXPECT_FALSE(fit_limit(request, "max_tokens must be at most 8192"));
}

TEST(FitLimit, IncludesTheBudget) {
  json::object request{{"max_tokens", 32'000},
                       {"thinking", json::object{{"type", "enabled"}, {"budget_tokens", 31'999}}}};
  EXPECT_TRUE(fit_limit(request, "max_tokens: 32000 > 8192"));
  EXPECT_EQ(to_json(request), R"({"max_tokens":8192,"thinking":{"type":"enabled","budget_tokens":4096}})");
  EXPECT_TRUE(fit_limit(request, "max_tokens: 8192 > 1500"));
  EXPECT_EQ(to_json(request), R"({"max_tokens":1500})");
}

TEST(FitEffort, ChangesOnlyLevelsThatNotAllModelsHave) {
  const auto fitted = [](std::string_view text) {
    auto request = parse_json(text).value().get_object();
    return std::pair(fit_effort(request), to_json(request));
  };
  EXPECT_EQ(fitted(R"({"reasoning_effort":"max"})"), std::pair(true, std::string(R"({"reasoning_effort":"high"})")));
  EXPECT_EQ(fitted(R"({"reasoning":{"effort":"minimal"}})"),
            std::pair(true, std::string(R"({"reasoning":{"effort":"low"}})")));
  EXPECT_EQ(fitted(R"({"output_config":{"effort":"xhigh"}})"),
            std::pair(true, std::string(R"({"output_config":{"effort":"high"}})")));
  EXPECT_FALSE(fitted(R"({"reasoning_effort":"high"})").first);
  EXPECT_FALSE(fitted(R"({"reasoning":{"summary":"auto"}})").first);
}

TEST(LeaveOutThinking, LeavesTheRest) {
  json::object request =
      parse_json(R"({"reasoning_effort":"high","thinking":{"type":"adaptive"},)"
                 R"("reasoning":{"effort":"high","summary":"auto"},"output_config":{"effort":"high"}})")
          .value()
          .get_object();
  EXPECT_TRUE(leave_out_thinking(request));
  EXPECT_EQ(to_json(request), R"({"reasoning":{"summary":"auto"}})");
  EXPECT_FALSE(leave_out_thinking(request));
}

TEST(JoinMessages, LeavesCallsAndResultsAsTheyAre) {
  auto messages = read_messages(
      R"([{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"user","content":"b"},)"
      R"({"role":"user","content":[{"type":"image_url"}]},{"role":"assistant","content":"c"},)"
      R"({"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","content":"d"},{"role":"tool","content":"e"},)"
      R"({"role":"user","content":"f"},{"role":"user","content":[]}])");
  EXPECT_TRUE(join_messages(messages));
  EXPECT_EQ(to_json(messages),
            R"([{"role":"system","content":"s"},)"
            R"({"role":"user","content":[{"type":"text","text":"a\n\nb"},{"type":"image_url"}]},)"
            R"({"role":"assistant","content":"c"},{"role":"assistant","content":null,"tool_calls":[]},)"
            R"({"role":"tool","content":"d"},{"role":"tool","content":"e\n\nf"},{"role":"user","content":[]}])");
  EXPECT_FALSE(join_messages(messages));
}

TEST(JoinMessages, KeepsThePicturesOfOllama) {
  auto messages = read_messages(R"([{"role":"user","content":"a"},{"role":"user","content":"b","images":["x"]},)"
                                R"({"role":"user","content":"c","images":["y"]}])");
  EXPECT_TRUE(join_messages(messages));
  EXPECT_EQ(to_json(messages), R"([{"role":"user","content":"a\n\nb\n\nc","images":["x","y"]}])");
}

TEST(FillContents, LeavesNone) {
  auto messages = read_messages(R"([{"role":"assistant","content":null},{"role":"user","content":"a"}])");
  EXPECT_TRUE(fill_contents(messages));
  EXPECT_EQ(to_json(messages), R"([{"role":"assistant","content":""},{"role":"user","content":"a"}])");
  EXPECT_FALSE(fill_contents(messages));
}

TEST(MovePromptToUser, BeginsTheFirstMessage) {
  auto messages = read_messages(R"([{"role":"system","content":"s"},{"role":"user","content":"a"}])");
  EXPECT_TRUE(move_prompt_to_user(messages));
  EXPECT_EQ(to_json(messages), R"([{"role":"user","content":"s\n\na"}])");
  EXPECT_FALSE(move_prompt_to_user(messages));
}

TEST(LeaveOutDocuments, PutsATextInTheirPlace) {
  Message message{.text = "Read\nthis", .images = {{"application/pdf", "%PDF", "", 4}, {"image/png", "p", "", 4}}};
  leave_out_documents(message);
  EXPECT_THAT(message.text, AllOf(StartsWith("Read\n(A PDF is left out"), EndsWith(")\nthis")));
  ASSERT_EQ(message.images.size(), 1u);
  EXPECT_EQ(message.images[0].text_before, message.text.size() - std::string_view("\nthis").size());
  json::object request{
      {"messages", json::array{json::object{{"role", "user"}, {"content", json::array{json::object{{"type", "file"}}}}},
                               json::object{{"role", "assistant"}, {"content", nullptr}}}}};
  EXPECT_TRUE(leave_out_documents(request));
  EXPECT_THAT(to_json(request), HasSubstr(R"([{"type":"text","text":"(A PDF)"));
  EXPECT_FALSE(leave_out_documents(request));
}

TEST(LeaveOutDocuments, PassesOverThoughtsOfPrograms) {
  json::object request{
      {"input",
       json::array{json::object{{"type", "reasoning"}, {"content", json::array{"text", nullptr}}},
                   json::object{{"role", "user"}, {"content", json::array{json::object{{"type", "input_file"}}}}}}}};
  EXPECT_TRUE(leave_out_documents(request));
  EXPECT_EQ(to_json(request.at("input").at(0)), R"({"type":"reasoning","content":["text",null]})");
  EXPECT_FALSE(leave_out_documents(request));
}

TEST(AskToContinue, GivesTheUserTheLastWord) {
  auto messages = read_messages(R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])");
  EXPECT_TRUE(ask_to_continue(messages, "Continue."));
  EXPECT_EQ(to_json(messages.back()), R"({"role":"user","content":"Continue."})");
  EXPECT_FALSE(ask_to_continue(messages, "Continue."));
}

TEST(LeaveOutTools, LeavesOutWhatIsSaidOfThem) {
  json::object request{{"tools", json::array{}}, {"tool_choice", "required"}, {"model", "m"}};
  EXPECT_TRUE(leave_out_tools(request));
  EXPECT_EQ(to_json(request), R"({"model":"m"})");
  EXPECT_FALSE(leave_out_tools(request));
}

TEST(ShortenIds, KeepsCallsAndResultsTogether) {
  const std::string id(41, 'x');
  const auto chat = [&] {
    return json::object{{"messages", json::array{json::object{{"tool_calls", json::array{json::object{{"id", id}}}}},
                                                 json::object{{"tool_call_id", id}}}}};
  };
  auto request = chat();
  EXPECT_TRUE(shorten_ids(request, 40));
  const auto& short_id = request.at("messages").at(1).at("tool_call_id");
  EXPECT_EQ(request.at("messages").at(0).at("tool_calls").at(0).at("id"), short_id);
  EXPECT_EQ(short_id.get_string().size(), 40u);
  EXPECT_FALSE(shorten_ids(request, 40));
  EXPECT_TRUE(shorten_ids_to_nine(request));
  EXPECT_THAT(std::string(request.at("messages").at(1).at("tool_call_id").get_string()), MatchesRegex("[a-z0-9]{9}"));
  EXPECT_FALSE(shorten_ids_to_nine(request));
  json::object input{{"input", json::array{json::object{{"call_id", id}, {"id", id}}}}};
  EXPECT_TRUE(shorten_ids(input, 40));
  EXPECT_EQ(input.at("input").at(0).at("id"), json::value(id));
}

TEST(ShortenIds, PassesOverThoughtsOfPrograms) {
  json::object request{{"input", json::array{json::object{{"type", "reasoning"}, {"tool_calls", "all"}},
                                             json::object{{"type", "reasoning"}, {"tool_calls", json::array{1}}},
                                             json::object{{"call_id", std::string(41, 'x')}}}}};
  EXPECT_TRUE(shorten_ids(request, 40));
  EXPECT_EQ(request.at("input").at(2).at("call_id").get_string().size(), 40u);
}

}  // namespace
}  // namespace agw
