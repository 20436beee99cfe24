#include "models/adjustments.hpp"

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

namespace agw {
namespace {

std::int64_t fitted(std::int64_t limit, std::string_view refusal) {
  json::object request{{"max_tokens", limit}};
  EXPECT_EQ(fit_limit(request, refusal), request.at("max_tokens") != limit) << refusal;
  return request.at("max_tokens").get_int64();
}

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

}  // namespace
}  // namespace agw
