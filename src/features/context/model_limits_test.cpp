#include "features/context/model_limits.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(ModelLimits, AreOnlyEverLowered) {
  Loop loop;
  HttpClient http(loop);
  BlockingPool blocking(loop);
  const Models models(http, blocking, {.providers = {{.name = "first", .kind = ProviderKind::openai, .api_key = "k"}}},
                      Prices());
  ModelLimits limits(models);
  const ModelChoice choice{.provider_name = "first", .model = "usual"};
  const auto known = limits.of(choice);
  const Completion completion{.outcome = ModelReply{}, .provider = "first", .model = "usual"};

  limits.lower(completion, known.context_window * 2, std::nullopt);
  EXPECT_EQ(limits.of(choice).context_window, known.context_window);

  limits.lower(completion, known.context_window / 2, known.max_output_tokens / 4);
  EXPECT_EQ(limits.of(choice).context_window, known.context_window / 2);
  EXPECT_EQ(limits.of(choice).max_output_tokens, known.max_output_tokens / 4);

  limits.lower(completion, known.context_window, known.max_output_tokens);
  EXPECT_EQ(limits.of(choice).context_window, known.context_window / 2);
  EXPECT_EQ(limits.of(choice).max_output_tokens, known.max_output_tokens / 4);
}

}  // namespace
}  // namespace agw
