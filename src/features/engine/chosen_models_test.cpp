#include "features/engine/chosen_models.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChosenModelsTest : public ::testing::Test {
protected:
  static Extension agent(json::object definition) {
    Extension agent;
    agent.definition = Definition(std::move(definition));
    return agent;
  }

  ChosenModels choose(json::object order, json::object definition) const {
    agw::Run run;
    run.order = std::move(order);
    return choose_models(models_, run, agent(std::move(definition)));
  }

  static std::vector<std::string> ids(const ChosenModels& chosen) {
    std::vector<std::string> ids;
    for (const auto& choice : chosen.choices) ids.push_back(choice.id());
    return ids;
  }

  Loop loop_;
  HttpClient http_{loop_};
  BlockingPool blocking_{loop_};
  Models models_{http_, blocking_,
                 ModelSettings{.providers = {{.name = "first", .kind = ProviderKind::openai, .api_key = "k"},
                                             {.name = "second", .kind = ProviderKind::openai, .api_key = "k"}},
                               .default_model = "first/usual"},
                 Prices()};
};

TEST_F(ChosenModelsTest, PrefersTheModelOfTheMessageThenOfTheAgentThenTheDefault) {
  EXPECT_EQ(choose({{"model", "second/named"}}, {{"model", "first/own"}}).model, "second/named");
  EXPECT_EQ(choose({}, {{"model", "first/own"}}).model, "first/own");
  EXPECT_EQ(choose({}, {}).model, "first/usual");
}

TEST_F(ChosenModelsTest, FallbacksFollowInOrder) {
  const auto chosen = choose({}, {{"model", "first/own"}, {"fallback_models", {"second/b", "nobody/x", "first/a"}}});
  EXPECT_THAT(ids(chosen), ElementsAre("first/own", "second/b", "first/nobody/x", "first/a"));
}

TEST_F(ChosenModelsTest, SaysWhatToDoIfAModelIsNotConfigured) {
  const auto chosen = choose({{"model", "anthropic/claude"}}, {});
  EXPECT_EQ(chosen.model, "anthropic/claude");
  EXPECT_THAT(chosen.problem, HasSubstr("anthropic"));
}

}  // namespace
}  // namespace agw
