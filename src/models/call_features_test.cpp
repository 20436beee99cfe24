#include "models/call_features.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(CallFeatures, NameWhatAServiceCannotDo) {
  ModelRequest request;
  EXPECT_EQ(unsupported_feature(request, {.kind = ProviderKind::ollama}), nullptr);
  request.options.seed = 7;
  EXPECT_EQ(unsupported_feature(request, {.kind = ProviderKind::ollama}), nullptr);
  EXPECT_EQ(unsupported_feature(request, {.kind = ProviderKind::anthropic})->chat, "seed");
  EXPECT_EQ(unsupported_feature(request, {.kind = ProviderKind::openai, .api = OpenAiApi::responses})->chat, "seed");
  EXPECT_EQ(unsupported_feature(request, {.kind = ProviderKind::openai, .api = OpenAiApi::chat}), nullptr);
}

TEST(CallFeatures, TranslateEffortAndBudget) {
  EXPECT_EQ(reasoning_budget({.reasoning_effort = "low"}), 2'048);
  EXPECT_EQ(reasoning_effort({.reasoning_budget = 10'000}), "medium");
  EXPECT_EQ(reasoning_effort({.reasoning_budget = 0}), "none");
  EXPECT_EQ(reasoning_effort({}), std::nullopt);
}

}  // namespace
}  // namespace agw
