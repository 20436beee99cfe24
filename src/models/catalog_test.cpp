#include "models/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/known_models.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;

class Nobody : public Provider {
public:
  Task<ModelOutcome> answer(const ModelRequest&, const OnDelta&, StopSource&) override { co_return ModelReply{}; }
};

class ModelsTest : public ::testing::Test {
protected:
  Models& configure(std::vector<ProviderSettings> providers, std::string default_model = {}) {
    models_ = std::make_unique<Models>(
        http_, blocking_, ModelSettings{.providers = std::move(providers), .default_model = std::move(default_model)},
        Prices());
    models_->add("offline", std::make_unique<Nobody>());
    return *models_;
  }

  /// `<provider>/<model>`, or the error message.
  std::string resolve(std::string_view reference) const {
    const auto resolved = models_->resolve(reference);
    const auto* choice = std::get_if<ModelChoice>(&resolved);
    return choice ? choice->id() : std::get<NotConfigured>(resolved).message;
  }

  Loop loop_;
  HttpClient http_{loop_};
  BlockingPool blocking_{loop_};
  std::unique_ptr<Models> models_;
};

const ProviderSettings anthropic{.name = "anthropic", .kind = ProviderKind::anthropic, .api_key = "k"};
const ProviderSettings openai{.name = "openai", .kind = ProviderKind::openai, .api_key = "k"};
const ProviderSettings router{.name = "router",
                              .kind = ProviderKind::openai,
                              .base_url = "https://openrouter.ai/api/v1",
                              .default_model = "meta/llama"};

TEST_F(ModelsTest, APrefixThatNamesAProviderSelectsIt) {
  configure({anthropic, router});
  EXPECT_EQ(resolve("anthropic/claude-opus-5"), "anthropic/claude-opus-5");
  EXPECT_EQ(resolve("router/anthropic/claude-opus-5"), "router/anthropic/claude-opus-5");
  EXPECT_EQ(resolve("offline/librarian"), "offline/librarian");
}

TEST_F(ModelsTest, APrefixThatNamesAKindSelectsTheFirstOfIt) {
  configure({anthropic, router});
  EXPECT_EQ(resolve("openai/gpt-5"), "router/gpt-5");
}

TEST_F(ModelsTest, AnyOtherPrefixIsPartOfTheId) {
  configure({router});
  EXPECT_EQ(resolve("mistral/small"), "router/mistral/small");
}

TEST_F(ModelsTest, ABareIdGoesToTheDefaultModelsProvider) {
  configure({anthropic, router}, "router/meta/llama");
  EXPECT_EQ(resolve("gpt-5"), "router/gpt-5");
}

TEST_F(ModelsTest, TheDefaultIsTheSettingThenTheFirstProvidersThenTheLibrarian) {
  configure({anthropic, router}, "router/x");
  EXPECT_EQ(resolve(""), "router/x");
  configure({anthropic, router});
  EXPECT_EQ(resolve(""), "anthropic/claude-sonnet-5-5");
  configure({router});
  EXPECT_EQ(resolve(""), "router/meta/llama");
  configure({});
  EXPECT_EQ(resolve(""), "offline/librarian");
}

TEST_F(ModelsTest, ADefaultWithoutAProvidersNameGoesToTheFirst) {
  configure({router, anthropic}, "qwen/qwen3");
  EXPECT_EQ(resolve(""), "router/qwen/qwen3");
}

TEST_F(ModelsTest, AnUnconfiguredModelSaysWhatToSet) {
  configure({});
  EXPECT_THAT(resolve("anthropic/claude-opus-5"),
              HasSubstr("provider anthropic is not configured: connect it with `agw model add anthropic`"));
  EXPECT_THAT(resolve("anthropic/claude-opus-5"), HasSubstr("or set ANTHROPIC_API_KEY"));
  EXPECT_THAT(resolve("openai/gpt-5"), HasSubstr("OPENAI_BASE_URL"));
  EXPECT_THAT(resolve("ollama/qwen3"), HasSubstr("OLLAMA_HOST"));
  EXPECT_THAT(resolve("gpt-5"), HasSubstr("ANTHROPIC_API_KEY, OPENAI_API_KEY"));
  configure({openai}, "anthropic/claude-opus-5");
  EXPECT_THAT(resolve(""), HasSubstr("ANTHROPIC_API_KEY"));
}

TEST_F(ModelsTest, AnUnknownServiceIsReportedWhateverIsConfigured) {
  for (const auto& services : {std::vector<ProviderSettings>(), {openai}}) {
    configure(services);
    const auto problem = models_->service_problem("nowhere/model");
    EXPECT_THAT(problem, HasSubstr("no model service has the name before the /"));
    EXPECT_THAT(problem, Not(HasSubstr("restart")));
  }
}

TEST_F(ModelsTest, TheLibrarianDoesNotReplaceAnUnusableModel) {
  const ProviderSettings broken{.name = "mine", .problem = "provider mine is not configured: no key"};
  configure({broken});
  EXPECT_EQ(resolve(""), broken.problem);
  EXPECT_EQ(resolve("offline/librarian"), "offline/librarian");
  configure({broken, router});
  EXPECT_EQ(resolve(""), "router/meta/llama");
}

TEST_F(ModelsTest, FallbacksThatAreNotConfiguredAreLeftOut) {
  configure({openai});
  const auto choices = models_->resolve_fallbacks({"anthropic/claude-opus-5", "gpt-5"});
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].id(), "openai/gpt-5");
}

TEST_F(ModelsTest, ListsWhatIsConfigured) {
  const auto rows = configure({anthropic, router}).list();
  EXPECT_EQ(rows.front().id, "anthropic/claude-sonnet-5-5");
  EXPECT_EQ(rows.front().context_window, 1'000'000);
  EXPECT_EQ(rows.front().max_output_tokens, 128'000);
  EXPECT_TRUE(rows.front().vision);
  EXPECT_EQ(rows.front().price, (Price{2, 10, 0.2, 2.5}));
  const auto count = [&](std::string_view id) { return std::ranges::count(rows, id, &ModelInfo::id); };
  EXPECT_EQ(count("anthropic/claude-sonnet-5-5"), 1);
  EXPECT_EQ(count("anthropic/claude-haiku-4-5"), 1);
  EXPECT_EQ(count("router/gpt-5"), 0);
  EXPECT_EQ(count("router/meta/llama"), 1);
  EXPECT_EQ(rows.back().id, "offline/librarian");
  EXPECT_EQ(rows.back().provider, "offline");
  EXPECT_FALSE(rows.back().vision);
}

TEST_F(ModelsTest, ListsTheDefaultModelAlsoWhereNoProviderNamesIt) {
  const auto ids = [](const Models& models) {
    std::vector<std::string> ids;
    for (const auto& row : models.list()) ids.push_back(row.id);
    return ids;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(configure({router}, "qwen3")), (Ids{"router/qwen3", "router/meta/llama", "offline/librarian"}));
  EXPECT_EQ(ids(configure({router}, "router/meta/llama")), (Ids{"router/meta/llama", "offline/librarian"}));
  const auto own = ids(configure({anthropic}, "anthropic/claude-haiku-4-5"));
  EXPECT_EQ(own.front(), "anthropic/claude-haiku-4-5");
  EXPECT_EQ(std::ranges::count(own, own.front()), 1);
}

TEST_F(ModelsTest, UnknownModelsGetSensibleLimitsAndNoPrice) {
  configure({router, {.name = "ollama", .kind = ProviderKind::ollama}});
  EXPECT_EQ(models_->info("router", "meta/llama").context_window, 128'000);
  EXPECT_EQ(models_->info("router", "meta/llama").price, std::nullopt);
  EXPECT_EQ(models_->info("ollama", "qwen3").context_window, 32'768);
  EXPECT_EQ(models_->info("ollama", "qwen3").price, Price());
  EXPECT_TRUE(models_->info("ollama", "qwen2.5vl:7b").vision);
  EXPECT_EQ(models_->info("router", "meta/llama").price, std::nullopt);
  EXPECT_EQ(models_->info("ollama", "qwen3").price, Price{});
  EXPECT_EQ(models_->info("anthropic", "claude-haiku-4-5-20251001").price.value().input, 1.0);
}

TEST_F(ModelsTest, TheWindowOfOllamaIsTheOneThatItIsCalledWith) {
  configure(
      {{.name = "ollama", .kind = ProviderKind::ollama, .models = {{.id = "defined", .context_window = 65'536}}}});
  models_->set_list("ollama",
                    std::make_shared<ModelList>(std::vector<ModelEntry>{{.id = "listed", .context_window = 262'144}}));
  EXPECT_EQ(models_->info("ollama", "listed").context_window, 32'768);
  EXPECT_EQ(models_->info("ollama", "gpt-4.1").context_window, 32'768);
  EXPECT_EQ(models_->info("ollama", "defined").context_window, 65'536);
}

TEST(KnownModels, AreFoundByDatedIdsToo) {
  EXPECT_EQ(find_known_model("gpt-4o-2024-08-06")->id, "gpt-4o");
  EXPECT_EQ(find_known_model("gpt-4o-mini-2024-07-18")->id, "gpt-4o-mini");
  EXPECT_EQ(find_known_model("claude-haiku-4-5-20251001")->id, "claude-haiku-4-5");
  EXPECT_EQ(find_known_model("claude-haiku-4-5-latest")->id, "claude-haiku-4-5");
  EXPECT_EQ(find_known_model("gpt-5-turbo"), nullptr);
  EXPECT_EQ(find_known_model(""), nullptr);
}

TEST_F(ModelsTest, KnowsModelsOfServicesThatHaveTheApiOfAnother) {
  configure({openai, {.name = "deepseek", .base_url = "https://api.deepseek.com"}});
  const auto known = models_->info("deepseek", "deepseek-v4-pro");
  EXPECT_EQ(known.context_window, 1'000'000);
  ASSERT_TRUE(known.price);
  EXPECT_GT(known.price->output, 0);
  const auto rows = models_->list();
  EXPECT_TRUE(std::ranges::none_of(rows, [](const auto& row) { return row.id == "openai/deepseek-v4-pro"; }));
}

TEST(ProviderSettings, AreCompletedByTheirKind) {
  EXPECT_EQ(complete({.kind = ProviderKind::openai}).api, OpenAiApi::responses);
  EXPECT_EQ(complete({.kind = ProviderKind::openai, .base_url = "http://localhost:1234/v1/"}).api, OpenAiApi::chat);
  EXPECT_EQ(complete({.base_url = "http://localhost:1234/v1/"}).base_url, "http://localhost:1234/v1");
  EXPECT_EQ(complete({.api_key = " key\n"}).api_key, "key");
  EXPECT_EQ(complete({.api = OpenAiApi::chat}).api, OpenAiApi::chat);
}

}  // namespace
}  // namespace agw
